//! Where the flags and counters of each rank lie in their block.

use crate::block::Extent;
use crate::layout::{EVENTCOUNT_BYTES, LINE, PAGE};

/// How many ranks sleep, or are about to.
pub(super) const SLEEPERS_AT: usize = LINE;
const RANKS_AT: usize = 2 * LINE;
/// Bytes that a flag or counter takes. Processors fetch lines in pairs, and the neighbour of a flag that is
/// looked at must not be one that another rank writes.
const WORD_BYTES: usize = 2 * LINE;

/// Offsets within the block of a communicator's flags, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagGeometry {
    /// Members of the communicator.
    pub ranks: usize,
    /// Bytes of the whole block.
    pub total_bytes: usize,
    flags: usize,
    counters: usize,
}

impl FlagGeometry {
    /// The layout for so many ranks with so many flags and counters each.
    pub fn new(ranks: usize, flags: usize, counters: usize) -> FlagGeometry {
        let mut geometry = FlagGeometry { ranks, total_bytes: 0, flags, counters };
        geometry.total_bytes = geometry.eventcount(ranks).next_multiple_of(PAGE);
        geometry
    }

    /// Offset of a rank's eventcount.
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

    fn references(&self) -> usize {
        self.ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_words_share_a_line() {
        let geometry = FlagGeometry::new(3, 4, 2);
        let mut lines = HashSet::from([0, SLEEPERS_AT / LINE]);
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
