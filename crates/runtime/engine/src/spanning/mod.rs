//! Collectives of communicators that span nodes, at one node.
//!
//! On each node there is an agent, one small process that has the network. In the node's segment it is
//! one more member, the last, of the local part of each such communicator. So a collective across nodes
//! is one or two collectives on each node ([`operation`], with memory of its own in
//! [`staged_buffers`]), with the network between them, which is the agents' business (crate `agent`). A
//! rank leaves its contribution with the agent and need not wait for it: no rank waits for a process
//! that is descheduled, here or elsewhere, unless the result needs what that process contributes.
//!
//! A barrier is a barrier of the members here and the agent, which enters it when all members elsewhere
//! have entered it; it can be deferred like any other. All other collectives are announced to the agent
//! by a call queue in the segment; every member posts the same there. What they consist of is said by
//! the crate `spanning`, for ranks and agents alike.
//!
//! [`reservation`] is what members reserve and tell each other when a communicator is made,
//! [`agent_member`] what the agent does in a node's part, [`agent_node`] the node as the agent sees it.
//!
//! May use: collective, comm, job. Must never wait.

pub mod agent_member;
pub mod agent_node;
pub mod operation;
pub mod reservation;
mod staged_buffers;
