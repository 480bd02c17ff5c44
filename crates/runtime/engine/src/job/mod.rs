//! The processes of a job, and which of them share a node.

pub mod agreement;
pub mod bootstrap;
pub mod cores;
pub mod neighbour;
pub mod node;
pub mod process_info;
