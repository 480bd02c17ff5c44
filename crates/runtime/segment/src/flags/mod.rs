//! Flags and counters through which the ranks of a communicator run schedules, in a block beside the
//! communicator's own.
//!
//! ```text
//! header     as of every block | asleep: how many ranks sleep for a flag
//! each rank  its bell (as in the head of a block) | its flags | its counters; every word on two lines of its own
//! ```
//!
//! Flags and counters only grow, from zero: nothing is cleared, so the next epoch may begin while
//! others are still in the last one. A flag is raised by plain stores, so whoever raises it must know
//! of the raise before; schedules are checked for that. Each rank sleeps at a bell of its own: in a
//! barrier of messages most signals concern one rank, and to wake all for each of them would take
//! longer than the barrier.

use crate::block::allocator::Extent;
use crate::board::barrier::store_fenced;
use crate::board::geometry::{LINE, PAGE};
use crate::eventcount::{self, Fencing, Futex};
use crate::sync::{Ordering, Words};

/// How many ranks sleep, or are about to.
const ASLEEP_AT: usize = LINE;
const RANKS_AT: usize = 2 * LINE;
/// A bell is reached as in the head of a block; see [`bell`].
const EVENTCOUNT_BYTES: usize = 4 * LINE;
/// Processors fetch lines in pairs, and the neighbour of a flag that is looked at must not be one that
/// another rank writes.
const WORD_BYTES: usize = 2 * LINE;

/// Where the flags of each rank lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagGeometry {
    pub ranks: usize,
    flags: usize,
    counters: usize,
    pub total_bytes: usize,
}

impl FlagGeometry {
    /// The layout for so many ranks with so many flags and counters each.
    pub fn new(ranks: usize, flags: usize, counters: usize) -> FlagGeometry {
        let mut geometry = FlagGeometry { ranks, flags, counters, total_bytes: 0 };
        geometry.total_bytes = geometry.eventcount(ranks).next_multiple_of(PAGE);
        geometry
    }

    /// Offset of a rank's bell.
    pub fn eventcount(&self, rank: usize) -> usize {
        RANKS_AT + rank * (EVENTCOUNT_BYTES + (self.flags + self.counters) * WORD_BYTES)
    }

    /// Offset of a flag of a rank.
    pub fn flag(&self, rank: usize, flag: usize) -> usize {
        debug_assert!(rank < self.ranks && flag < self.flags);
        self.eventcount(rank) + EVENTCOUNT_BYTES + flag * WORD_BYTES
    }

    /// Offset of a counter of a rank.
    pub fn counter(&self, rank: usize, counter: usize) -> usize {
        debug_assert!(rank < self.ranks && counter < self.counters);
        self.eventcount(rank) + EVENTCOUNT_BYTES + (self.flags + counter) * WORD_BYTES
    }
}

impl Extent for FlagGeometry {
    fn total_bytes(&self) -> usize {
        self.total_bytes
    }
    fn control_bytes(&self) -> usize {
        self.total_bytes
    }
}

/// The flags of one communicator, as one member sees them. Words are named by their offsets.
pub struct Flags<M> {
    pub memory: M,
    /// Each rank's bell.
    pub eventcounts: Vec<M>,
    pub fencing: Fencing,
}

impl<M: Words> Flags<M> {
    /// Raises a flag. Others may sleep for it: the last of several raises must be a [`Self::raise_last`].
    #[inline(always)]
    pub fn raise(&self, at: usize, value: u64) {
        // Release: pairs with `has_reached`; what this rank knows of others goes along.
        self.memory.word(at).store(value, Ordering::Release);
    }

    /// Raises a flag; afterwards it may be asked who sleeps.
    #[inline(always)]
    pub fn raise_last(&self, at: usize, value: u64) {
        match self.fencing {
            // Release too; the fence pairs with the one in `eventcount::sleep_unless`.
            Fencing::Both => store_fenced(self.memory.word(at), value),
            Fencing::Sleeper => self.memory.word(at).store(value, Ordering::Release),
        }
    }

    /// One more in a counter; how many there are now. Afterwards it may be asked who sleeps.
    #[inline(always)]
    pub fn add(&self, at: usize) -> u64 {
        // Release: pairs with `has_reached`. Acquire: who makes a counter full has seen all who counted
        // before. SeqCst because on x86 it costs the same and is a fence.
        let count = self.memory.word(at).fetch_add(1, Ordering::SeqCst) + 1;
        if self.fencing == Fencing::Both && cfg!(any(not(target_arch = "x86_64"), loom)) {
            crate::sync::fence(Ordering::SeqCst); // pairs with the one in `eventcount::sleep_unless`
        }
        count
    }

    /// Whether a flag or counter has come to `value`.
    #[inline(always)]
    pub fn has_reached(&self, at: usize, value: u64) -> bool {
        self.memory.word(at).load(Ordering::Acquire) >= value // pairs with `raise`, `raise_last` and `add`
    }

    /// Whether any rank sleeps; to be asked after a `raise_last` or an `add`, and then to be followed by
    /// [`Self::wake`].
    #[inline(always)]
    pub fn has_sleepers(&self) -> bool {
        if self.fencing == Fencing::Sleeper {
            // Only the compiler must keep the order; the sleeper's membarrier does the rest.
            std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        }
        self.memory.word(ASLEEP_AT).load(Ordering::Relaxed) != 0
    }
}

impl<M: Words + Futex> Flags<M> {
    /// Wakes a rank for which something has been raised, if it sleeps.
    #[cold]
    pub fn wake(&self, rank: usize) {
        if eventcount::has_sleepers(&self.eventcounts[rank]) {
            eventcount::wake_sleepers(&self.eventcounts[rank]);
        }
    }

    /// Sleeps until somebody wakes this rank, at most `timeout_ns`, unless `happened` already holds.
    ///
    /// A process that dies in here leaves a count one too high: that costs looks at eventcounts, no more.
    pub fn sleep_unless(&self, me: usize, timeout_ns: u64, happened: impl FnMut() -> bool) {
        // Before the bell's own count and its fence, so that whoever does not see this one has raised in time
        // to be seen.
        let asleep = self.memory.word(ASLEEP_AT);
        asleep.fetch_add(1, Ordering::SeqCst);
        eventcount::sleep_unless(&self.eventcounts[me], self.fencing, timeout_ns, happened);
        asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_words_share_a_line() {
        let geometry = FlagGeometry::new(3, 4, 2);
        let mut lines = HashSet::from([0, ASLEEP_AT / LINE]);
        let mut take = |offset: usize, lines_of: usize| {
            assert!(offset % LINE == 0 && offset + lines_of * LINE <= geometry.total_bytes);
            (0..lines_of).for_each(|i| assert!(lines.insert(offset / LINE + i), "{offset}"));
        };
        for rank in 0..3 {
            take(geometry.eventcount(rank), EVENTCOUNT_BYTES / LINE);
            (0..4).for_each(|flag| take(geometry.flag(rank, flag), WORD_BYTES / LINE));
            (0..2).for_each(|counter| take(geometry.counter(rank, counter), WORD_BYTES / LINE));
        }
    }
}
