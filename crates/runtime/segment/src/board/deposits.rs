//! Numbered instances of collectives, each with a cell a rank.
//!
//! Instance `seq` uses window position `seq mod window`. The rules that make it right:
//!
//! * Only its owner writes a cell, and publishes it by storing `seq + 1` into its flag. Flags count; they are
//!   never cleared.
//! * A rank enters instance `seq` only when every rank has *left* instance `seq - window`: from then on no
//!   rank reads what stands there. So no rank runs ahead by more than the window, and memory is bounded.

use crate::board::geometry::Geometry;
use crate::eventcount::Fencing;
use crate::layout::LINE;
use crate::sync::{AtomicU64, Ordering, Words};

/// The number of an instance of a collective on one communicator, counted alike by all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seq(pub u64);

impl Seq {
    /// The value of a flag once this instance is published.
    #[inline(always)]
    pub fn epoch(self) -> u64 {
        self.0 + 1
    }

    /// The epoch as it stands above the low 16 bits of a tagged word.
    pub(crate) fn tag(self) -> u64 {
        self.epoch() & 0xffff_ffff_ffff
    }
}

/// One communicator's block, as one member sees it.
#[derive(Clone)]
pub struct Board<M> {
    /// The words of the block.
    pub memory: M,
    /// Where things lie in it.
    pub geometry: Geometry,
    /// Which side of the block's eventcount pays for the fence.
    pub fencing: Fencing,
}

impl<M: Words> Board<M> {
    /// The flag of `rank`'s cell.
    #[inline(always)]
    fn flag(&self, rank: usize, seq: Seq) -> &AtomicU64 {
        self.memory.word(self.geometry.cell(rank, seq.0))
    }

    /// Publishes what the caller has written into its cell (and ring).
    #[inline(always)]
    pub fn publish(&self, me: usize, seq: Seq) {
        // Release: pairs with the load in `is_published`, so that the payload is seen with the flag.
        self.flag(me, seq).store(seq.epoch(), Ordering::Release);
    }

    /// Whether `rank` has published its cell; if so the caller may read the payload until it leaves.
    #[inline(always)]
    pub fn is_published(&self, rank: usize, seq: Seq) -> bool {
        self.flag(rank, seq).load(Ordering::Acquire) >= seq.epoch() // pairs with `publish`
    }

    /// Says that the caller is through with every instance below `count`.
    #[inline(always)]
    pub fn leave(&self, me: usize, count: u64) {
        // Release: pairs with the load in `left`, so that the caller's reads are over when a cell is written
        // again.
        self.memory.word(self.geometry.left_at + me * LINE).store(count, Ordering::Release);
    }

    /// How many instances `rank` is through with.
    #[inline(always)]
    pub fn left(&self, rank: usize) -> u64 {
        self.memory.word(self.geometry.left_at + rank * LINE).load(Ordering::Acquire) // pairs with `leave`
    }

    /// How many instances every rank is through with.
    pub fn all_left(&self) -> u64 {
        (0..self.geometry.ranks).map(|r| self.left(r)).min().unwrap_or(0)
    }
}
