//! A core that several ranks take turns on.

use crate::time::VirtualTime;
use evenkeel_random::Random;

/// The ranks of a core, which have their turns in an order that stays the same, and the core's time.
pub struct Core {
    pub clock: VirtualTime,
    ranks: Vec<u32>,
    next: usize,
    /// Whoever is not done with its work keeps the core.
    keeps: Option<u32>,
    /// Turns since anything happened anywhere.
    idle: usize,
}

impl Core {
    pub fn new(mut ranks: Vec<u32>, mut random: Random) -> Core {
        random.shuffle(&mut ranks);
        Core { clock: VirtualTime::ZERO, ranks, next: 0, keeps: None, idle: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    pub fn is_single(&self) -> bool {
        self.ranks.len() == 1
    }

    /// Whose turn it is. The core must not be empty.
    pub fn turn(&mut self) -> u32 {
        if let Some(rank) = self.keeps.take() {
            return rank;
        }
        self.next = if self.next < self.ranks.len() { self.next } else { 0 };
        self.next += 1;
        self.ranks[self.next - 1]
    }

    /// The rank that has just had its turn works so long, and goes on then.
    pub fn work(&mut self, rank: u32, length: VirtualTime) {
        self.clock += length;
        self.keeps = Some(rank);
    }

    /// Takes out the rank that has just had its turn.
    pub fn remove(&mut self, rank: u32) {
        self.next -= 1;
        debug_assert_eq!(self.ranks[self.next], rank);
        self.ranks.remove(self.next);
    }

    /// Something has happened, here or on another core: a rank that waited may go on.
    pub fn wake(&mut self) {
        self.idle = 0;
    }

    pub fn has_waited(&mut self) {
        self.idle += 1;
    }

    /// All of its ranks have looked since anything happened, and wait.
    pub fn all_wait(&self) -> bool {
        self.idle >= self.ranks.len()
    }

    /// Goes around, by turns of `each`, for as long as a turn begins before `until`: nothing happens before.
    pub fn idle_until(&mut self, until: VirtualTime, each: VirtualTime) {
        let turns = until.saturating_sub(self.clock).ps().div_ceil(each.ps().max(1));
        self.clock += VirtualTime::from_ps(turns * each.ps());
        self.next = ((self.next as u64 + turns) % self.ranks.len() as u64) as usize;
    }
}
