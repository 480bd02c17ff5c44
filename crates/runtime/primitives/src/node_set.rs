//! Sets of nodes.

use evenkeel_fabric::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A set of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u32, u32)>", into = "Vec<(u32, u32)>")]
pub struct NodeSet(Arc<[NodeId]>);

/// A set travels as runs of consecutive nodes, first and last: a set of all nodes is as short as one of two.
impl From<NodeSet> for Vec<(u32, u32)> {
    fn from(set: NodeSet) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for NodeId(node) in set.iter() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == node => *last = node,
                _ => runs.push((node, node)),
            }
        }
        runs
    }
}

/// Sets that are longer than any machine has nodes are cut: what comes from the network must not decide how
/// much memory is used.
impl From<Vec<(u32, u32)>> for NodeSet {
    fn from(runs: Vec<(u32, u32)>) -> NodeSet {
        runs.into_iter().flat_map(|(first, last)| first..=last).take(MAX_NODES).map(NodeId).collect()
    }
}

const MAX_NODES: usize = 1 << 20;

impl NodeSet {
    /// The nodes from 0 to `nodes` less one.
    pub fn all(nodes: usize) -> NodeSet {
        (0..nodes as u32).map(NodeId).collect()
    }

    /// Whether a node is in the set.
    pub fn contains(&self, node: NodeId) -> bool {
        self.0.binary_search(&node).is_ok()
    }

    /// The nodes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.0.iter().copied()
    }

    /// How many nodes are in the set.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no node is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> NodeSet {
        NodeSet(nodes.into_iter().collect::<BTreeSet<_>>().into_iter().collect())
    }
}
