//! Blocks of the segment: what they are, and who hands them out.

pub mod allocator;
