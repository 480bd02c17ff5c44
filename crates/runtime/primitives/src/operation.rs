//! What is asked of a set of nodes, and what comes of it.

use evenkeel_fabric::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Nodes, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u32, u32)>", into = "Vec<(u32, u32)>")]
pub struct NodeSet(Arc<[NodeId]>);

/// What is sent are runs of consecutive nodes, first and last: a set of all nodes is as short as one of two.
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

/// Longer sets than any machine has are cut: what comes from the network decides about no memory.
impl From<Vec<(u32, u32)>> for NodeSet {
    fn from(runs: Vec<(u32, u32)>) -> NodeSet {
        runs.into_iter().flat_map(|(first, last)| first..=last).take(MOST_NODES).map(NodeId).collect()
    }
}

const MOST_NODES: usize = 1 << 20;

impl NodeSet {
    /// Nodes 0 up to, but not with, `nodes`.
    pub fn all(nodes: usize) -> NodeSet {
        (0..nodes as u32).map(NodeId).collect()
    }

    pub fn contains(&self, node: NodeId) -> bool {
        self.0.binary_search(&node).is_ok()
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.0.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> NodeSet {
        NodeSet(nodes.into_iter().collect::<BTreeSet<_>>().into_iter().collect())
    }
}

/// How a variable (left) is compared with a value (right). Both are unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

impl Comparison {
    pub const ALL: [Comparison; 6] = [
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::GreaterOrEqual,
        Comparison::Greater,
    ];

    pub fn holds(self, variable: u64, value: u64) -> bool {
        match self {
            Comparison::Less => variable < value,
            Comparison::LessOrEqual => variable <= value,
            Comparison::Equal => variable == value,
            Comparison::NotEqual => variable != value,
            Comparison::GreaterOrEqual => variable >= value,
            Comparison::Greater => variable > value,
        }
    }
}

/// An event of a node: a count of signals that nobody has taken yet. Numbers are the program's to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u32);

/// Something to be done on every node of a set, or on none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Write bytes at the same place of every node's memory, and signal an event there.
    Xfer {
        at: usize,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        event: Option<EventId>,
    },
    /// Write bytes that are on every node already, under their origin and its number; and signal an event
    /// there.
    Staged { at: usize, length: usize, origin: NodeId, number: u64, event: Option<EventId> },
    /// Compare the word at `variable` on every node; if it holds on all, write a value (second) to the word
    /// at an offset (first) on all.
    Compare { variable: usize, comparison: Comparison, value: u64, write: Option<(usize, u64)> },
}

impl Operation {
    /// Whether it changes anything anywhere: a comparison alone does not.
    pub fn writes(&self) -> bool {
        !matches!(self, Operation::Compare { write: None, .. })
    }

    /// The bytes that it reads or writes.
    pub fn touches(&self) -> Vec<Range<usize>> {
        match self {
            Operation::Xfer { at, bytes, event } => written(*at, bytes.len(), *event),
            Operation::Staged { at, length, event, .. } => written(*at, *length, *event),
            Operation::Compare { variable, write, .. } => {
                let written = write.map(|(at, _)| at..at + 8);
                std::iter::once(*variable..variable + 8).chain(written).collect()
            }
        }
    }

    /// Whether the order of the two makes a difference.
    pub fn conflicts(&self, other: &Operation) -> bool {
        (self.writes() || other.writes()) && overlap(&self.touches(), &other.touches())
    }
}

/// What a transfer writes. Events stand in no memory; they are ordered as if they stood behind all of it.
fn written(at: usize, length: usize, event: Option<EventId>) -> Vec<Range<usize>> {
    let event = event.map(|EventId(event)| usize::MAX - 1 - event as usize..usize::MAX - event as usize);
    std::iter::once(at..at + length).chain(event).collect()
}

/// Whether two lists of ranges have a byte in common.
pub(crate) fn overlap(left: &[Range<usize>], right: &[Range<usize>]) -> bool {
    left.iter().any(|a| right.iter().any(|b| a.start < b.end && b.start < a.end))
}

/// A node that failed, and what that means for the operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct Fault {
    /// Which node.
    pub node: NodeId,
    pub what: Failure,
    /// Nobody has it, and nobody will. Otherwise either everybody has it or nobody does, now or when the
    /// failed node is heard again; who asks here cannot be told which.
    pub undone: bool,
}

/// How a node failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// Nothing was heard of it for the limit.
    Silent,
    /// It was out of touch, and by the time it was asked the others had settled the matter.
    OutOfTouch,
    /// It has been declared dead.
    Evicted,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Fault { node, what, undone } = self;
        match what {
            Failure::Silent => write!(out, "{node} did not answer in time")?,
            Failure::OutOfTouch => {
                write!(out, "{node} was out of touch with the node that orders operations")?
            }
            Failure::Evicted => write!(out, "{node} has been declared dead")?,
        }
        out.write_str(if *undone {
            "; the operation was carried out on no node"
        } else {
            "; whether the operation is carried out, on all nodes or none, is not known here"
        })
    }
}

/// What comes of an operation: whether it was carried out (a comparison without a write: whether it
/// held), or which node failed.
pub type Outcome = Result<bool, Fault>;
