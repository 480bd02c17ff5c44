//! The network in time.

pub(crate) mod arbitration;
pub(crate) mod buffer;
pub(crate) mod contents;
pub(crate) mod deadlock;
mod failures;
mod movement;
pub(crate) mod packet;

pub use contents::{Count, Halt, Post, Simulator, Workload};
pub use deadlock::Deadlock;
pub use packet::{Packet, PacketId};
