//! Collectives of communicators that span nodes.
//!
//! On each node there is an agent, one small process that has the fabric. In the node's segment it is
//! one more member, the last, of the part of each such communicator that lives there. So a collective
//! across nodes is one or two collectives on each node ([`operation`]), with the network between them,
//! which is the agents' business (box `agent`). A rank hands its part to the agent and owes nothing
//! more: nobody waits for a process that is descheduled, here or elsewhere, unless the result needs
//! what it hands in.
//!
//! A barrier is a barrier of the members here and the agent, who enters it when all elsewhere have
//! entered it: it can be deferred like any other. All other collectives are announced to the agent by a
//! docket in the segment; every member writes the same there.
//!
//! [`evenkeel_spanning`] says what such a collective consists of. Here, [`communicator`] is a communicator across
//! nodes, [`nodes`] how agents are started and spoken to, [`agent_member`] what the agent does in a node's part.

pub mod agent_member;
pub mod commands;
pub mod communicator;
pub mod nodes;
pub mod operation;
mod staged_buffers;
