//! Another process of this node.

use evenkeel_segment::process::WatchedProcess;
use std::sync::OnceLock;

/// Another rank of this node, or the node's agent.
pub struct Neighbour {
    /// Its rank in MPI_COMM_WORLD; none that exists, for an agent.
    pub world_rank: usize,
    /// Its process.
    pub pid: u32,
    /// Whether that still lives; watched from the first time on that this is asked.
    pub(crate) watched: OnceLock<WatchedProcess>,
}
