//! The processes of the ranks on an agent's node.

use evenkeel_engine::job::node::Node;
use evenkeel_segment::process::WatchedProcess;
use std::os::fd::RawFd;

/// The ranks of a node, by their places there.
pub struct LocalRanks {
    world: &'static Node,
    /// Node rank of each process here, and the process until it has ended.
    ranks: Vec<(u32, Option<WatchedProcess>)>,
}

impl LocalRanks {
    /// `here`: world rank and process of each rank of this node.
    pub fn new(world: &'static Node, here: &[(u32, u32)]) -> LocalRanks {
        let ranks = here.iter().map(|(rank, pid)| (*rank, Some(WatchedProcess::new(*pid)))).collect();
        LocalRanks { world, ranks }
    }

    /// A descriptor for each place that becomes readable when the process there ends; -1 if it has ended.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.ranks
            .iter()
            .map(|(_, process)| process.as_ref().and_then(WatchedProcess::descriptor).unwrap_or(-1))
    }

    /// The process at a place has ended. Its world rank, if it has died before it had done its part in
    /// everything.
    pub fn end(&mut self, place: usize) -> Option<u32> {
        let (rank, process) = &mut self.ranks[place];
        *process = None;
        (!self.world.has_left(place)).then_some(*rank)
    }

    /// Whether all ranks here have done their part in everything. Then other nodes may still need what they
    /// have contributed.
    pub fn have_finished(&self) -> bool {
        (0..self.ranks.len()).all(|place| self.world.has_left(place))
    }
}
