//! Arrivals at an instance of a collective, and the release that publishes its result.
//!
//! Arrivals are counted at the instance's own window position. No rank can be two rounds of the window ahead,
//! so the count is monotone: round `k` (1, 2, …) is complete at `ranks × k`. The rank that completes the
//! count can finish the instance alone, and so can any rank that sees it complete: all deposits are there,
//! and stay until every rank has left. A process that dies or is descheduled holds up only itself.

use crate::board::tagged::{rank_in, tagged};
use crate::board::{Board, Seq};
use crate::layout::LINE;
use crate::sync::{Ordering, Words};

const RELEASE: usize = LINE;
const GROUPS: usize = 3 * LINE;
/// Beside the arrivals: which rank completed the count.
const LAST: usize = 8;

impl<M: Words> Board<M> {
    /// Counts the caller's arrival; true for the rank that completes round `round` of this window position.
    #[inline(always)]
    pub fn arrive(&self, me: usize, seq: Seq, round: u64) -> bool {
        self.arrive_for(me, me, seq, round)
    }

    /// Counts the arrival of `rank`, whose deposit the caller has entered. True if that completes the round;
    /// `last` then counts as the rank that came last.
    #[inline(always)]
    pub fn arrive_for(&self, rank: usize, last: usize, seq: Seq, round: u64) -> bool {
        let slot = self.geometry.slot(seq.0);
        let top = self.memory.word(slot);
        // Acquire and release: the last to arrive must see what all others deposited before they arrived.
        // SeqCst: costs the same on x86, and is there the fence that `notify` needs.
        let is_last = if self.geometry.groups == 0 {
            top.fetch_add(1, Ordering::SeqCst) + 1 == round * self.geometry.ranks as u64
        } else {
            let group = self.geometry.group_of(rank);
            let counter = self.memory.word(slot + GROUPS + group * LINE);
            counter.fetch_add(1, Ordering::SeqCst) + 1 == round * self.geometry.group_size(group)
                && top.fetch_add(1, Ordering::SeqCst) + 1 == round * self.geometry.groups as u64
        };
        if is_last {
            // Relaxed: only the report uses it, and a reader that comes too early finds another tag.
            self.memory.word(slot + LAST).store(tagged(seq.epoch(), last), Ordering::Relaxed);
        }
        is_last
    }

    /// The rank that arrived last at an instance. `None` if it has not noted that yet.
    pub fn last_to_arrive(&self, seq: Seq) -> Option<usize> {
        rank_in(self.memory.word(self.geometry.slot(seq.0) + LAST).load(Ordering::Relaxed), seq.epoch())
    }

    /// Whether all ranks have arrived in round `round`.
    #[inline(always)]
    pub fn all_arrived(&self, seq: Seq, round: u64) -> bool {
        let wanted =
            round * if self.geometry.groups == 0 { self.geometry.ranks } else { self.geometry.groups } as u64;
        self.memory.word(self.geometry.slot(seq.0)).load(Ordering::Acquire) >= wanted // pairs with `arrive`
    }

    /// Releases the others, after the caller has written the result.
    #[inline(always)]
    pub fn release(&self, seq: Seq) {
        // Release: pairs with the load in `is_released`, so that the result is seen with the flag.
        self.memory.word(self.geometry.slot(seq.0) + RELEASE).store(seq.epoch(), Ordering::Release);
    }

    /// Whether the result of the instance may be read.
    #[inline(always)]
    pub fn is_released(&self, seq: Seq) -> bool {
        // Acquire: pairs with the store in `release`.
        self.memory.word(self.geometry.slot(seq.0) + RELEASE).load(Ordering::Acquire) >= seq.epoch()
    }
}
