//! Operations on the memories of a set of nodes.

use evenkeel_fabric::{NodeId, WordWrite};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Names an operation among those that a node has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OperationNumber(pub(crate) u64);

impl OperationNumber {
    pub(crate) fn next(self) -> OperationNumber {
        OperationNumber(self.0 + 1)
    }
}

/// How a variable (left) is compared with a value (right). Both are unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

impl Comparison {
    /// All comparisons, in the order of the C interface.
    pub const ALL: [Comparison; 6] = [
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::GreaterOrEqual,
        Comparison::Greater,
    ];

    /// Whether the comparison holds.
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

/// An event of a node: a count of signals that have not been taken. The program chooses the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u32);

/// Something to be carried out on every node of a set, or on none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Write bytes at the same place of every node's memory, and signal an event there.
    Xfer {
        /// Offset in every node's memory.
        at: usize,
        /// What is written there.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        /// The event that is signalled at every node.
        event: Option<EventId>,
    },
    /// Write bytes that were sent ahead to every node, under their origin and its number for the operation;
    /// and signal an event there. Callers cannot begin one.
    Staged {
        /// Offset in every node's memory.
        at: usize,
        /// How many bytes.
        length: usize,
        /// The node that sent them ahead.
        origin: NodeId,
        /// The number that it gave the operation.
        number: OperationNumber,
        /// The event that is signalled at every node.
        event: Option<EventId>,
    },
    /// Compare a word of every node with a value. If the comparison holds on all, write a word on all.
    Compare {
        /// Offset of the word that is compared.
        variable: usize,
        /// How it is compared.
        comparison: Comparison,
        /// With what it is compared.
        value: u64,
        /// What is written; None: nothing.
        write: Option<WordWrite>,
    },
}

impl Operation {
    /// Whether it changes anything anywhere. A comparison without a write does not.
    pub fn writes(&self) -> bool {
        !matches!(self, Operation::Compare { write: None, .. })
    }

    /// The bytes that it reads or writes.
    pub(crate) fn touched(&self) -> Vec<Range<usize>> {
        match self {
            Operation::Xfer { at, bytes, event } => written(*at, bytes.len(), *event),
            Operation::Staged { at, length, event, .. } => written(*at, *length, *event),
            Operation::Compare { variable, write, .. } => {
                let written = write.map(|write| write.at..write.at + 8);
                std::iter::once(*variable..variable + 8).chain(written).collect()
            }
        }
    }

    /// Whether the order of the two makes a difference.
    pub(crate) fn conflicts_with(&self, other: &Operation) -> bool {
        (self.writes() || other.writes()) && overlap(&self.touched(), &other.touched())
    }
}

/// What a transfer writes. Events lie in no memory; they are ordered as if they lay behind all of it.
fn written(at: usize, length: usize, event: Option<EventId>) -> Vec<Range<usize>> {
    let event = event.map(|EventId(event)| usize::MAX - 1 - event as usize..usize::MAX - event as usize);
    std::iter::once(at..at + length).chain(event).collect()
}

/// Whether two lists of ranges have a byte in common.
pub(crate) fn overlap(left: &[Range<usize>], right: &[Range<usize>]) -> bool {
    left.iter().any(|a| right.iter().any(|b| a.start < b.end && b.start < a.end))
}
