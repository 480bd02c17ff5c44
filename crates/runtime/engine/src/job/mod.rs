//! The processes of a job as one of them sees them: which of them share its node, and which facts all ranks
//! know.
//!
//! In `MPI_Init` each process describes itself ([`process_info`]), and [`bootstrap`] makes a [`node`] of
//! those that share memory. If the job spans nodes, [`agent_start`] starts one agent per node, to which
//! ranks send [`agent_commands`] over an [`agent_link`]. [`liveness`] finds out which processes have died.
//!
//! May use: segment, options, barrier-table. Must never: know a communicator.

pub mod agent_commands;
pub mod agent_link;
pub mod agent_process;
pub mod agent_start;
pub mod agreement;
pub mod bootstrap;
pub(crate) mod bounce_buffer;
pub mod cores;
pub mod direct_link;
mod inherited;
pub mod liveness;
mod members;
pub mod neighbour;
pub mod node;
pub mod nodes;
pub mod process_info;
pub(crate) mod spare_block;
