//! The agent of a node: carries collectives of one job between nodes.
//!
//! One small process per node and job. A node's first rank starts it, and it ends with the last one. In
//! the node's segment it has a seat in every communicator that spans nodes
//! ([`evenkeel_engine::across`]); between nodes it has the fabric. It takes in what the ranks of its
//! node hand over, exchanges that with the other nodes' agents by a schedule ([`exchange::schedule`],
//! [`exchange::run`]), and gives its ranks what comes of it ([`communicator::collective`], [`communicator::call_stream`]). What others need it
//! passes on whether its own ranks have called it or not ([`communicator::forwarding`]). Barriers are counted apart
//! ([`communicator::global_minimum`]). It sleeps when nothing happens, and finds out when a node that is waited for is no
//! longer there ([`process::liveness`]).
//!
//! May use: engine (its seat), fabric, schedule, segment, options, bytes, libc. Must never run anything
//! of the program's, choose by anything but what all agents know alike, take a slow node for a lost one
//! before its time, or stay when its ranks are gone.

pub mod communicator;
pub mod exchange;
pub mod message;
pub mod position;
pub mod process;
