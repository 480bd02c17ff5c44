//! What a rank knows of a communicator on one node: the memory that its members share ([`shared`]),
//! what changes from call to call ([`state`], with [`ring_allocator`]), and both together ([`part`]).
//!
//! May use: job, segment, record. Must never carry anything out: operations are above.

pub mod part;
pub mod ring_allocator;
pub mod shared;
pub mod stamp;
pub mod state;
