//! What a communicator is: its shared memory, its numbering, what is under way on it.

pub mod ring_allocator;
pub mod shared;
pub mod state;
