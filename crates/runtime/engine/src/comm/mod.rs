//! What a rank knows of a communicator on one node: the memory that its members share ([`shared`]), the
//! state that changes from call to call ([`state`], with [`ring_allocator`] and [`backlog`]), and the two
//! together ([`part`]).
//!
//! May use: job, segment, record. Must never: carry out an operation; modules above do that.

pub(crate) mod backlog;
pub mod part;
pub mod ring_allocator;
pub mod shared;
pub mod stamp;
pub mod state;
