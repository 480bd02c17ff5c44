//! Measures the network between hosts.

pub mod command;
mod coordinator;
mod message;
pub mod node;
mod remote_nodes;
mod responder;
