//! The shared memory of one node, and the lock-free protocols on it.
//!
//! A [`Segment`] is one anonymous memory file that all ranks of a node map. It holds *blocks*, one per
//! communicator ([`block`]); a block is a bill-board ([`board`]): every rank writes only its own cells,
//! publishes them with an epoch, and recycles them when every reader has said that it has left.
//! Barriers are counted apart from that ([`board::barrier`]); schedules have flags and counters in a block of
//! their own ([`flags`]). Messages between two processes have rings of their own ([`channel`]). Where a
//! communicator spans nodes, its members tell the node's agent what they call ([`board::call_queue`]). Sleeping
//! and waking is an event count over a futex ([`eventcount`]); whether a process still lives is asked of the
//! kernel ([`process`]). Apart from communicators, [`mailbox`] hands bytes from one process to one
//! other.
//!
//! May use: libc. Must never know what an operation or a datatype is, take a lock that a dead process
//! could hold, wait without a bound, or give anything a name in a file system.

pub mod block;
pub mod board;
pub mod channel;
#[cfg(not(loom))]
pub mod cross_memory;
pub mod eventcount;
pub mod flags;
#[cfg(not(loom))]
pub mod mailbox;
#[cfg(not(loom))]
pub mod memory;
#[cfg(not(loom))]
pub mod process;
pub mod sync;

pub use board::geometry::Geometry;
pub use board::{Board, Seq};
pub use flags::{FlagGeometry, Flags};
#[cfg(not(loom))]
pub use memory::{Mapped, Segment};
