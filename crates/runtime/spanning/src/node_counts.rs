//! How many members of a communicator are on each of its nodes.

/// How many members a communicator has on each of its nodes, in the communicator's order of nodes.
///
/// *Node order* lists all members of the first node, then those of the second, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCounts {
    counts: Vec<u32>,
    /// Where each node's members begin in node order and, last, how many members there are.
    starts: Vec<u32>,
}

impl NodeCounts {
    /// From the number of members on each node.
    pub fn new(counts: Vec<u32>) -> NodeCounts {
        let mut sum = 0;
        let starts = std::iter::once(0)
            .chain(counts.iter().map(|count| {
                sum += count;
                sum
            }))
            .collect();
        NodeCounts { counts, starts }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.counts.len()
    }

    /// How many members there are, on all nodes.
    pub fn ranks(&self) -> usize {
        self.starts[self.nodes()] as usize
    }

    /// How many members a node has.
    pub fn on(&self, node: usize) -> usize {
        self.counts[node] as usize
    }

    /// How many members the node with most members has.
    pub fn largest(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0) as usize
    }

    /// Where a node's members begin in node order.
    pub fn start(&self, node: usize) -> usize {
        self.starts[node] as usize
    }
}

/// One node among those of a communicator.
#[derive(Clone, Copy, Debug)]
pub struct NodePosition<'a> {
    /// The members on each node.
    pub counts: &'a NodeCounts,
    /// Which of the nodes this is.
    pub node: usize,
}

impl NodePosition<'_> {
    /// How many members are on this node.
    pub fn ranks_here(&self) -> usize {
        self.counts.on(self.node)
    }

    /// How many members are on the other nodes.
    pub fn ranks_elsewhere(&self) -> usize {
        self.counts.ranks() - self.ranks_here()
    }

    /// The other nodes, in order.
    pub fn other_nodes(&self) -> impl Iterator<Item = usize> + use<> {
        let node = self.node;
        (0..self.counts.nodes()).filter(move |other| *other != node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_node_begin_behind_those_of_the_nodes_before() {
        let counts = NodeCounts::new(vec![2, 3, 1]);
        assert_eq!((counts.nodes(), counts.ranks(), counts.largest()), (3, 6, 3));
        assert_eq!([0, 1, 2].map(|node| counts.start(node)), [0, 2, 5]);
        let position = NodePosition { counts: &counts, node: 1 };
        assert_eq!((position.ranks_here(), position.ranks_elsewhere()), (3, 3));
        assert_eq!(position.other_nodes().collect::<Vec<_>>(), [0, 2]);
    }
}
