//! Which node each member of a communicator is on, as all members know it alike.

use crate::node_counts::{NodeCounts, NodePosition};

/// Where a member of a communicator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Which of the communicator's nodes.
    pub node: u32,
    /// Which of the communicator's members on that node.
    pub local_rank: u32,
}

/// The members of a communicator by nodes. Nodes are in the order of their first members, and the members
/// of a node in rank order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeMap {
    /// The job's number of each of the communicator's nodes.
    pub nodes: Vec<u32>,
    /// How many members each node has.
    pub counts: NodeCounts,
    /// Where each rank is.
    pub locations: Vec<Location>,
    /// Ranks in node order: all members of the first node, then those of the second, and so on.
    pub order: Vec<u32>,
}

impl NodeMap {
    /// From the job's node of each rank.
    pub fn new(node_of: &[u32]) -> NodeMap {
        let mut nodes: Vec<u32> = Vec::new();
        let mut counts: Vec<u32> = Vec::new();
        let mut locations = Vec::with_capacity(node_of.len());
        for node in node_of {
            let at = nodes.iter().position(|known| known == node).unwrap_or_else(|| {
                nodes.push(*node);
                counts.push(0);
                nodes.len() - 1
            });
            locations.push(Location { node: at as u32, local_rank: counts[at] });
            counts[at] += 1;
        }
        let counts = NodeCounts::new(counts);
        let mut order = vec![0; node_of.len()];
        for (rank, location) in locations.iter().enumerate() {
            order[counts.start(location.node as usize) + location.local_rank as usize] = rank as u32;
        }
        NodeMap { nodes, counts, locations, order }
    }

    /// How many members there are.
    pub fn ranks(&self) -> usize {
        self.locations.len()
    }

    /// Whether node order is rank order.
    pub fn is_in_order(&self) -> bool {
        self.order.iter().enumerate().all(|(at, &rank)| at as u32 == rank)
    }

    /// The node that a rank is on.
    pub fn node_of(&self, rank: usize) -> usize {
        self.locations[rank].node as usize
    }

    /// Which of its node's members a rank is.
    pub fn local_rank_of(&self, rank: usize) -> usize {
        self.locations[rank].local_rank as usize
    }

    /// A node among the nodes of the communicator.
    pub fn position(&self, node: usize) -> NodePosition<'_> {
        NodePosition { counts: &self.counts, node }
    }

    /// The ranks of the nodes other than `node`, in node order.
    pub fn elsewhere(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let start = self.counts.start(node);
        let end = start + self.counts.on(node);
        self.order[..start].iter().chain(&self.order[end..]).map(|&rank| rank as usize)
    }

    /// The ranks of one node.
    pub fn members(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let start = self.counts.start(node);
        self.order[start..start + self.counts.on(node)].iter().map(|&rank| rank as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_dealt_out_in_turn_are_not_in_order() {
        let map = NodeMap::new(&[7, 3, 7, 3, 9]);
        assert_eq!((map.nodes.as_slice(), &map.counts), (&[7, 3, 9][..], &NodeCounts::new(vec![2, 2, 1])));
        let locations = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)];
        assert_eq!(map.locations, locations.map(|(node, local_rank)| Location { node, local_rank }));
        assert_eq!(map.order, [0, 2, 1, 3, 4]);
        assert_eq!(map.elsewhere(1).collect::<Vec<_>>(), [0, 2, 4]);
        assert_eq!(map.members(1).collect::<Vec<_>>(), [1, 3]);
        assert!(!map.is_in_order() && NodeMap::new(&[0, 0, 1]).is_in_order());
    }
}
