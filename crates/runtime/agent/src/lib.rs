//! The agent of a node: carries the collectives of one job between nodes.
//!
//! An agent is one small process per node and job. The node's first rank starts it, and it ends with the
//! last rank. In the node's segment it is one more member of every communicator that spans nodes
//! ([`evenkeel_engine::spanning`]); between nodes it has the fabric. It collects what the ranks of its node
//! contribute, exchanges that with the other nodes' agents, and gives its ranks the result. What other
//! nodes need it forwards whether its own ranks have called it or not. It sleeps when nothing happens,
//! and finds out when a node that is waited for is gone.
//!
//! From top to bottom: [`process`] is the program's loop; [`communicator`] what is done for one communicator;
//! [`exchange`] the schedules between nodes; [`message`] what agents tell each other; [`error`] why an agent
//! cannot go on. README.md lists the files that a broadcast passes.
//!
//! May use: engine (as a member of its communicators), spanning, schedule, fabric, segment, options. Must
//! never: run any of the program's own code, decide by anything that other agents may know differently,
//! take a slow node for a lost one before its time, or stay when its ranks are gone.

pub mod communicator;
pub mod error;
pub mod exchange;
pub mod message;
pub mod process;
