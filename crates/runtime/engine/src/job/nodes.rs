//! The nodes of a job, as all ranks know them from each other's descriptions.

use super::process_info::{ProcessInfo, hash};
use std::collections::BTreeMap;

/// The nodes of a job, in the order of their first ranks. The same on all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobNodes {
    /// The node of each rank.
    pub node_of: Vec<u32>,
    /// The first rank of each node.
    pub leaders: Vec<usize>,
    /// Tells this job from others, on all its nodes. Never 0.
    pub job: u64,
}

impl JobNodes {
    /// From the descriptions of all processes, in the order of `MPI_COMM_WORLD`.
    pub(super) fn of(processes: &[ProcessInfo]) -> JobNodes {
        let mut known: BTreeMap<(u64, u64), usize> = BTreeMap::new();
        let mut leaders: Vec<usize> = Vec::new();
        let mut node_of: Vec<u32> = Vec::new();
        let mut of_all: Vec<u8> = Vec::new();
        for (rank, process) in processes.iter().enumerate() {
            let node = *known.entry(process.node()).or_insert_with(|| {
                leaders.push(rank);
                leaders.len() - 1
            });
            node_of.push(node as u32);
            // Processes of other jobs may have the same numbers on other nodes, but not the same tokens.
            for word in [u64::from(process.pid), process.boot, process.namespaces, process.token] {
                of_all.extend_from_slice(&word.to_le_bytes());
            }
        }
        JobNodes { node_of, leaders, job: hash(&of_all).max(1) }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.leaders.len()
    }

    /// Returns whether a rank is the first one of its node.
    pub fn is_leader(&self, rank: usize) -> bool {
        self.leaders.binary_search(&rank).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_in_the_order_of_their_first_ranks_and_jobs_differ() {
        let process = |pid, boot| ProcessInfo { pid, boot, ..ProcessInfo::default() };
        let nodes = JobNodes::of(&[process(7, 1), process(3, 2), process(8, 1), process(9, 3)]);
        assert_eq!((nodes.node_of.as_slice(), nodes.leaders.as_slice()), (&[0, 1, 0, 2][..], &[0, 1, 3][..]));
        assert_eq!((nodes.count(), nodes.is_leader(3), nodes.is_leader(2)), (3, true, false));
        let other = JobNodes::of(&[process(7, 1), process(3, 2), process(8, 1), process(10, 3)]);
        assert_ne!(nodes.job, other.job);
    }
}
