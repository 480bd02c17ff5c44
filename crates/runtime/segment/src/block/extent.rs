//! What a block is: its place in the segment, its size, and how many members hold it.

use crate::layout::PAGE;

/// A block in use: where it starts, and which use of that place this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The page of the segment at which it starts.
    pub page: u32,
    /// The number of this use among all uses of all places of the segment, from 1 on.
    pub generation: u32,
}

impl Block {
    /// Page and generation as one number, never 0.
    pub fn id(self) -> u64 {
        (self.generation as u64) << 32 | self.page as u64
    }

    /// The block with this id; None for an id that no block has.
    pub fn from_id(id: u64) -> Option<Block> {
        (id as u32 != 0).then_some(Block { page: id as u32, generation: (id >> 32) as u32 })
    }

    /// Offset in the segment, in bytes.
    pub fn offset(self) -> usize {
        self.page as usize * PAGE
    }
}

/// How much of the segment a block takes, and how many members hold a reference to it.
pub trait Extent {
    /// Bytes of the whole block.
    fn total_bytes(&self) -> usize;

    /// Everything below this offset must be zero when the block is handed out.
    fn control_bytes(&self) -> usize;

    /// References that have to be dropped before the block is free again: one a member.
    fn references(&self) -> usize;
}
