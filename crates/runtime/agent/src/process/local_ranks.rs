//! The processes of the ranks on an agent's node.

use crate::message::Death;
use crate::process::rank_watcher::RankWatcher;
use evenkeel_engine::job::node::Node;
use std::io;
use std::os::fd::RawFd;

/// The ranks of a node, by their places there.
pub struct LocalRanks {
    world: &'static Node,
    /// World rank of each process here, and whether its end has been taken.
    ranks: Vec<(u32, bool)>,
    watcher: RankWatcher,
}

impl LocalRanks {
    /// `here`: world rank and process of each rank of this node.
    ///
    /// # Errors
    /// If the kernel has no descriptor or thread left.
    pub fn new(world: &'static Node, here: &[(u32, u32)]) -> io::Result<LocalRanks> {
        let watcher = RankWatcher::start(here.iter().map(|(_, pid)| *pid).collect())?;
        Ok(LocalRanks { world, ranks: here.iter().map(|(rank, _)| (*rank, false)).collect(), watcher })
    }

    /// A descriptor that is readable while the end of a process has not been taken.
    pub fn descriptor(&self) -> RawFd {
        self.watcher.descriptor()
    }

    /// Takes the ends of processes. Those that died before they had done their part in everything, in the
    /// order of their deaths.
    pub fn take_deaths(&mut self) -> Vec<Death> {
        let status = self.world.status();
        let mut deaths = Vec::new();
        for (place, seen_ns) in self.watcher.take() {
            let (rank, has_ended) = &mut self.ranks[place];
            *has_ended = true;
            if !status.has_left(place) && !status.was_ended(place) {
                deaths.push(Death { rank: *rank, seen_ns });
            }
        }
        deaths
    }

    /// Whether the end of every rank here is accounted for: it has done its part, has ended itself because of
    /// another loss, or its end has been taken.
    pub fn are_accounted_for(&self) -> bool {
        let status = self.world.status();
        let is_known = |place: usize| status.has_left(place) || status.was_ended(place);
        self.ranks.iter().enumerate().all(|(place, (_, has_ended))| *has_ended || is_known(place))
    }

    /// Whether all ranks here have done their part in everything. Then other nodes may still need what they
    /// have contributed.
    pub fn have_finished(&self) -> bool {
        (0..self.ranks.len()).all(|place| self.world.has_left(place))
    }
}
