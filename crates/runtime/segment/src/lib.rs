//! The shared memory of one node, and the lock-free protocols on it.
//!
//! A [`Segment`] is one anonymous memory file that all ranks of a node map. It holds [blocks](block), one for
//! each communicator. A communicator's block is a [board]: every rank writes only its own cells, publishes
//! them with an epoch, and recycles them when every reader has said that it has left. Barriers are counted
//! apart from that ([`board::barrier`]); schedules have [flags and counters](flags) in a block of their own.
//! Where a communicator spans nodes, its members post what they call for the node's agent
//! ([`board::call_queue`]); or they carry small collectives themselves, with what nodes have told each other
//! in [`statements`], over a socket that [`datagrams`] tells of. A rank that reads something there for others
//! leaves it with the [unclaimed] datagrams, and wakes those [that wait](waiters) for it.
//!
//! Messages between two processes go through rings ([`channel`]), and [`mailbox`] passes bytes from one
//! process to one other, apart from any communicator. Where a process may not read another one's memory, a
//! [`relay`] passes its bytes. Both ends copy a large message at once through a [`pipeline`]. Processes sleep
//! and are woken at an [`eventcount`] over a futex. [`node_status`] keeps what the node knows of its
//! processes and of other nodes; whether a process still lives is asked of the kernel ([`process`]). Which
//! MPI call each of them is in stands in a line of its own ([`call_line`]), beside who it is ([`identity`]):
//! other programs of the user read that from outside ([`foreign`]) and change nothing.
//!
//! May use: libc. Must never: know what an operation or a datatype is, take a lock that a dead process could
//! hold, wait without a bound, or give anything a name in a file system.

pub mod block;
pub mod board;
pub mod call_line;
pub mod channel;
#[cfg(not(loom))]
pub mod cross_memory;
pub mod datagrams;
pub mod eventcount;
pub mod flags;
#[cfg(not(loom))]
pub mod foreign;
pub mod identity;
pub mod layout;
#[cfg(not(loom))]
pub mod mailbox;
#[cfg(not(loom))]
pub mod membarrier;
#[cfg(not(loom))]
pub mod memory;
pub mod node_status;
pub mod pipeline;
#[cfg(not(loom))]
pub mod process;
pub mod relay;
pub mod statements;
pub mod sync;
mod system_call;
mod tagged_word;
pub mod unclaimed;
pub mod waiters;

pub use board::{Board, Geometry, Seq};
pub use flags::{FlagGeometry, Flags};
#[cfg(not(loom))]
pub use memory::{Mapped, Segment};
pub use node_status::NodeStatus;
