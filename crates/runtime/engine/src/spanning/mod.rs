//! Collectives of communicators that span nodes, as one node sees them.
//!
//! On each node there is an agent, one small process that uses the network. In the node's segment it is one
//! more member, the last, of the local part of each such communicator. So a collective across nodes
//! consists of one or two collectives on each node ([`operation`], with memory of its own in
//! [`staged_buffers`]) and of the exchange between the agents (crate `agent`). A rank leaves its
//! contribution with the agent and does not wait for the exchange: no rank waits for a descheduled process,
//! here or elsewhere, unless it needs that process's contribution.
//!
//! A barrier is a barrier of the members here and the agent, which enters it when all members on other
//! nodes have entered it. It can be deferred like any other barrier. All other collectives are announced to
//! the agent by a call queue in the segment, in which every member posts the same words. The crate
//! `spanning` defines the stages of a collective, for ranks and agents alike.
//!
//! [`choice`] finds out whether that or the host library is faster, if the user wants it. [`reservation`] is
//! what members reserve and send each other when a communicator is made, [`agent_member`] the agent's
//! membership in a node's part, and [`agent_node`] the node as the agent sees it.
//!
//! May use: collective, comm, job. Must never: wait.

pub mod agent_member;
pub mod agent_node;
pub mod choice;
pub mod operation;
pub mod reservation;
mod staged_buffers;
