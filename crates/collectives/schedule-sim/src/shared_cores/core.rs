//! A core that several ranks use in turn.

use crate::time::VirtualTime;
use evenkeel_random::Random;

/// The ranks of a core, which take turns in an order that stays the same, and the core's time.
pub struct Core {
    /// The time up to which the core is used.
    pub clock: VirtualTime,
    ranks: Vec<u32>,
    next: usize,
    /// The rank that keeps the core because its work is not done.
    keeps: Option<u32>,
    /// Turns since anything happened on any core.
    idle: usize,
}

impl Core {
    /// A core with these ranks, in an order drawn from `random`.
    pub fn new(mut ranks: Vec<u32>, mut random: Random) -> Core {
        random.shuffle(&mut ranks);
        Core { clock: VirtualTime::ZERO, ranks, next: 0, keeps: None, idle: 0 }
    }

    /// Whether no rank is left.
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// Whether one rank has the core for itself.
    pub fn is_single(&self) -> bool {
        self.ranks.len() == 1
    }

    /// The rank whose turn it is. The core must not be empty.
    pub fn turn(&mut self) -> u32 {
        if let Some(rank) = self.keeps.take() {
            return rank;
        }
        self.next = if self.next < self.ranks.len() { self.next } else { 0 };
        self.next += 1;
        self.ranks[self.next - 1]
    }

    /// The rank whose turn it is works for so long and continues afterwards.
    pub fn work(&mut self, rank: u32, length: VirtualTime) {
        self.clock += length;
        self.keeps = Some(rank);
    }

    /// Removes the rank whose turn it is.
    pub fn remove(&mut self, rank: u32) {
        self.next -= 1;
        debug_assert_eq!(self.ranks[self.next], rank);
        self.ranks.remove(self.next);
    }

    /// Something has happened on this core or another one, so a rank that waited may be able to continue.
    pub fn wake(&mut self) {
        self.idle = 0;
    }

    /// The rank whose turn it is has found nothing to do.
    pub fn count_idle_turn(&mut self) {
        self.idle += 1;
    }

    /// Whether all ranks of the core have had a turn since anything happened, and all wait.
    pub fn all_wait(&self) -> bool {
        self.idle >= self.ranks.len()
    }

    /// Takes idle turns of length `each` for as long as a turn begins before `until`, because nothing
    /// happens before.
    pub fn idle_until(&mut self, until: VirtualTime, each: VirtualTime) {
        let turns = until.saturating_sub(self.clock).ps().div_ceil(each.ps().max(1));
        self.clock += VirtualTime::from_ps(turns * each.ps());
        self.next = ((self.next as u64 + turns) % self.ranks.len() as u64) as usize;
    }
}
