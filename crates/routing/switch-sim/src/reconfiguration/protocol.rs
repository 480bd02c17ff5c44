//! The protocols: what a switch does when it receives a message or when one of its timers expires.
//!
//! [`Reconfiguration`] has the data. [`handler`] starts a reconfiguration and passes each event to the part
//! that it belongs to: collecting the topology, computing tables, or merging regions.
//!
//! May use: graphs, merges, tables, and a [`ProtocolEnvironment`]. Must never: know whether the messages
//! travel in simulated time or in every possible order.

mod environment;
mod handler;
mod message;
mod reconfiguration;
mod region_merging;
mod table_computation;
mod topology_collection;

pub(super) use environment::ProtocolEnvironment;
pub(super) use message::{EpochMessage, ProtocolMessage};
pub(super) use reconfiguration::{Reconfiguration, ReconfigurationProgress};
