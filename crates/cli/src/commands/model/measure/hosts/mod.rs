//! Measures the network between hosts, over the fabric that agents use.
//!
//! This process starts a process on each host through a remote shell ([`start`], [`remote_nodes`]). These
//! processes ([`node`]) are configured in lines of JSON ([`introduction`]) and exchange [`message`]s over
//! UCX: node 0 takes the times ([`coordinator`]), the others answer ([`responder`]). [`measurement`] takes
//! all passes.

mod coordinator;
mod introduction;
mod measurement;
mod message;
mod node;
mod node_pass;
mod remote_nodes;
mod responder;
mod start;

pub use measurement::measure;
pub use node::serve;
