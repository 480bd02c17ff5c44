//! Blocks of the segment: one for each communicator, and further ones for what belongs to it.
//!
//! [`BlockAllocator`] hands blocks out and takes them back without a lock. Members of a communicator that
//! need a further block find it through the head of the one that they have (`shared`): the first
//! member to ask allocates it.
//!
//! May use: the segment's words and its layout. Must never: know what a block is used for, beyond its size
//! and how many members hold it.

mod allocator;
mod extent;
mod shared;

pub use allocator::{BlockAllocator, WORLD};
pub use extent::{Block, Extent};
