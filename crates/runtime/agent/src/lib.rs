//! The agent of a node: carries collectives of one job between nodes.
//!
//! One small process per node and job. A node's first rank starts it, and it ends with the last one. In
//! the node's segment it has a seat in every communicator that spans nodes
//! ([`evenkeel_engine::across`]); between nodes it has the fabric. It takes in what the ranks of its
//! node hand over, exchanges that with the other nodes' agents by a schedule ([`choice`],
//! [`instance`]), and gives its ranks what comes of it ([`running`], [`lane`]). What others need it
//! passes on whether its own ranks have called it or not ([`passing`]). Barriers are counted apart
//! ([`watermark`]). It sleeps when nothing happens, and finds out when a node that is waited for is no
//! longer there ([`health`]).
//!
//! May use: engine (its seat), fabric, schedule, segment, options, bytes, libc. Must never run anything
//! of the program's, choose by anything but what all agents know alike, take a slow node for a lost one
//! before its time, or stay when its ranks are gone.

pub mod agent;
pub mod buffer;
pub mod choice;
pub mod counts;
pub mod health;
pub mod instance;
pub mod lane;
pub mod linger;
pub mod message;
pub mod party;
pub mod passing;
pub mod position;
pub mod progress;
pub mod running;
pub mod watermark;
