//! A block that a process makes when it first needs one, and can do without.

use evenkeel_segment::Segment;
use evenkeel_segment::block::{Block, BlockAllocator, Extent};

/// A block of the segment, if one has been needed and there was room for it.
#[derive(Default)]
pub(crate) enum SpareBlock {
    /// None has been needed.
    #[default]
    None,
    /// The segment has no room for one.
    Refused,
    Made(Block),
}

impl SpareBlock {
    /// The block, made at the first call; `announce` is called with a new one. `None` if the segment has no
    /// room.
    pub(crate) fn get(
        &mut self,
        blocks: &BlockAllocator<'_, Segment>,
        extent: &impl Extent,
        announce: impl FnOnce(Block),
    ) -> Option<Block> {
        if let SpareBlock::None = self {
            *self = blocks.allocate_spare(extent).map_or(SpareBlock::Refused, SpareBlock::Made);
            if let SpareBlock::Made(block) = *self {
                announce(block);
            }
        }
        match *self {
            SpareBlock::Made(block) => Some(block),
            _ => None,
        }
    }
}
