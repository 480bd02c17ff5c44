//! Collectives of communicators that span nodes.
//!
//! On each node there is an agent, one small process that has the fabric. It is one more member, the
//! last, of each such communicator's part on its node. A collective across nodes is one or two
//! collectives on each node, with an exchange between the agents in between (crate `evenkeel-agent`);
//! [`evenkeel_spanning`] says which. A rank contributes to the collective that brings data up to the
//! agent and is done with that part. It waits for no process that is descheduled, here or on another
//! node, unless it needs what that process contributes.
//!
//! A barrier is a barrier of the ranks here and the agent, which enters it when all other nodes have entered
//! it; it can be deferred like any other. All other collectives are posted in the segment's call queue, from
//! which the agent takes them. Every member posts the same.
//!
//! On the side of the ranks: [`communicator`], and [`operation`] with its staged memory. On the side of the
//! agent: [`agent_member`] and [`agent_world`]. Between the two: [`commands`] over a pipe. [`nodes`] finds a
//! job's nodes and starts their agents with [`launch`]; [`job`] is what a rank knows of them afterwards.

pub mod agent_member;
pub mod agent_node;
pub mod operation;
mod staged_buffers;
