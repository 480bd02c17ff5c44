//! Deposits of a rank that is further ahead than the window allows.
//!
//! A rank that only contributes to an instance, for one *reader*, need not wait for room in the window. It
//! writes its deposit into its *backlog*, a block of its own, and goes on. When the reader comes to the
//! instance, the window is open there. The reader copies the cell from the backlog to the depositor's cell of
//! the board, and publishes and counts it in the depositor's place.
//!
//! The rules that make it right:
//!
//! * Only its owner writes a backlog. A cell is published by storing `seq + 1` into its flag.
//! * A cell, and what it refers to, is written again only after the reader of its instance has left that
//!   instance.
//! * The owner deposits at the board again as soon as the window is open for it. Then the readers of all
//!   instances but the last few have left, so it never writes a cell that a reader may still fill for it.
//! * Only the reader of an instance fills another rank's cell, once.

use crate::block::{Block, Extent};
use crate::board::{Board, Seq};
use crate::layout::{BACKLOGS_AT, HEAD_BYTES, LINE};
use crate::sync::{Ordering, Words};

/// Deposits that a rank may have in its backlog.
const CELLS: usize = 32 * 1024;
/// Bytes of a backlog; memory is taken only as it is used.
const TOTAL_BYTES: usize = 32 << 20;
/// Offset in a rank's line of the place of its backlog; the line starts with how many instances it has left.
const PLACE: usize = 8;

/// Offsets within a backlog, in bytes: the head of a block, cells of a line each, a ring for what does not
/// fit into them.
#[derive(Clone, Copy, Debug)]
pub struct BacklogGeometry {
    /// How many deposits it holds.
    pub cells: usize,
    /// Where the ring starts.
    pub ring_at: usize,
    /// Bytes of the ring.
    pub ring_bytes: usize,
}

impl BacklogGeometry {
    /// The layout of all backlogs.
    pub const fn new() -> Self {
        Self::with(CELLS, TOTAL_BYTES)
    }

    /// A layout with other sizes, for tests that need tiny ones.
    pub const fn with(cells: usize, total_bytes: usize) -> Self {
        let ring_at = HEAD_BYTES + cells * LINE;
        BacklogGeometry { cells, ring_at, ring_bytes: total_bytes - ring_at }
    }
}

impl Default for BacklogGeometry {
    fn default() -> Self {
        Self::new()
    }
}

impl Extent for BacklogGeometry {
    fn total_bytes(&self) -> usize {
        self.ring_at + self.ring_bytes
    }

    fn control_bytes(&self) -> usize {
        self.ring_at
    }

    fn references(&self) -> usize {
        1 // its owner's
    }
}

/// The backlog of one rank on one communicator.
pub struct Backlog<M> {
    /// The words of its block.
    pub memory: M,
    /// Where things lie in it.
    pub geometry: BacklogGeometry,
}

impl<M: Words> Backlog<M> {
    /// Offset of the cell for instance `seq`, which is laid out as a cell of the board.
    pub fn cell(&self, seq: Seq) -> usize {
        HEAD_BYTES + seq.0 as usize % self.geometry.cells * LINE
    }

    /// Publishes what its owner has written into the cell (and the ring).
    pub fn publish(&self, seq: Seq) {
        // Release: pairs with the load in `holds`, so that the payload is seen with the flag.
        self.memory.word(self.cell(seq)).store(seq.epoch(), Ordering::Release);
    }

    /// Returns whether the deposit of instance `seq` is there. If so, the reader of that instance may read it
    /// until it leaves.
    pub fn holds(&self, seq: Seq) -> bool {
        self.memory.word(self.cell(seq)).load(Ordering::Acquire) == seq.epoch() // pairs with `publish`
    }
}

impl<M: Words> Board<M> {
    /// Says where the caller's backlog is.
    pub fn announce_backlog(&self, me: usize, block: Block) {
        let place = self.memory.word(self.geometry.left_at + me * LINE + PLACE);
        // Release: pairs with the load in `backlog_of`, so that the finder sees an empty backlog.
        place.store(block.offset() as u64, Ordering::Release);
        self.memory.word(BACKLOGS_AT).fetch_add(1, Ordering::Release);
    }

    /// Returns whether any member has announced a backlog.
    #[inline(always)]
    pub fn has_backlogs(&self) -> bool {
        self.memory.word(BACKLOGS_AT).load(Ordering::Relaxed) != 0
    }

    /// Offset in the segment of the backlog of `rank`, if it has one.
    pub fn backlog_of(&self, rank: usize) -> Option<usize> {
        let place = self.memory.word(self.geometry.left_at + rank * LINE + PLACE);
        let offset = place.load(Ordering::Acquire) as usize; // pairs with the store in `announce_backlog`
        (offset != 0).then_some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::PAGE;

    #[test]
    fn a_backlog_is_one_block_of_a_power_of_two() {
        let geometry = BacklogGeometry::new();
        assert!(geometry.total_bytes().is_power_of_two() && geometry.total_bytes() % PAGE == 0);
        assert!(geometry.ring_bytes > 20_000 * 1024, "20,000 deposits of 1 KiB");
    }
}
