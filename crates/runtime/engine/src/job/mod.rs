//! The processes of a job, and which of them share a node.

pub mod agent_commands;
pub mod agent_link;
pub mod agent_process;
pub mod agent_start;
pub mod agreement;
pub mod bootstrap;
pub mod cores;
pub mod liveness;
pub mod neighbour;
pub mod node;
pub mod process_info;
