//! Where a node stands among those of a communicator.

use evenkeel_spanning::{NodeCounts, NodePosition};

/// Where this node stands in a communicator.
pub struct Position {
    /// How many ranks each of its nodes has.
    pub counts: NodeCounts,
    /// Which of its nodes this is.
    pub me: usize,
    /// Its "nodes" are virtual hosts of one machine.
    pub share_cores: bool,
}

impl Position {
    /// How many nodes it has.
    pub fn nodes(&self) -> usize {
        self.counts.nodes()
    }

    /// For the table of what a collective consists of.
    pub fn of_node(&self) -> NodePosition<'_> {
        NodePosition { counts: &self.counts, node: self.me }
    }
}
