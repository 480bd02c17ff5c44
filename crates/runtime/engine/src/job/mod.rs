//! The processes of a job as one of them sees them: which share its node, and what all know alike.
//!
//! In `MPI_Init` each process describes itself ([`process_info`]), and [`bootstrap`] makes a [`node`]
//! of those that share memory. Where the job spans nodes, [`agent_start`] starts one agent a node,
//! which ranks reach over an [`agent_link`] with [`agent_commands`]. [`liveness`] finds out who has
//! died.
//!
//! May use: segment, options, the table of barriers. Must never know a communicator.

pub mod agent_commands;
pub mod agent_link;
pub mod agent_process;
pub mod agent_start;
pub mod agreement;
pub mod bootstrap;
pub mod cores;
pub mod liveness;
mod members;
pub mod neighbour;
pub mod node;
pub mod process_info;
