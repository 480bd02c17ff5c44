//! Another process of this node.

use evenkeel_segment::process::WatchedProcess;
use std::sync::OnceLock;

/// Another process of this node: a rank, or the node's agent.
pub struct Neighbour {
    /// Its rank in `MPI_COMM_WORLD`; `usize::MAX` for the agent.
    pub world_rank: usize,
    /// Its process id.
    pub pid: u32,
    watched: OnceLock<WatchedProcess>,
}

impl Neighbour {
    /// A process that is watched from the first call of [`Neighbour::is_dead`] on.
    pub fn new(world_rank: usize, pid: u32) -> Neighbour {
        Neighbour { world_rank, pid, watched: OnceLock::new() }
    }

    /// Returns whether it has ended, for whatever reason.
    pub fn is_dead(&self) -> bool {
        self.watched.get_or_init(|| WatchedProcess::new(self.pid)).is_dead()
    }
}
