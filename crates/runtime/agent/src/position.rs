//! Where a node stands among those of a communicator.

/// Where this node stands in a communicator.
pub struct Position {
    /// How many ranks each of its nodes has.
    pub counts: Vec<usize>,
    /// Which of its nodes this is.
    pub me: usize,
    /// Its "nodes" are virtual hosts of one machine.
    pub share_cores: bool,
}

impl Position {
    /// How many nodes it has.
    pub fn nodes(&self) -> usize {
        self.counts.len()
    }

    /// How many ranks, on all nodes.
    pub fn ranks(&self) -> usize {
        self.counts.iter().sum()
    }

    /// How many the node has that has most.
    pub fn most(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// How many are here.
    pub fn here(&self) -> usize {
        self.counts[self.me]
    }

    /// Where a node's ranks begin in node order.
    pub fn start(&self, node: usize) -> usize {
        self.counts[..node].iter().sum()
    }
}
