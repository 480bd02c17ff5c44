//! One node's end of a fabric: what it can do, and what may be relied upon.

use crate::memory::Memory;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A node of a job: 0 up to, but not with, the number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "node {}", self.0)
    }
}

/// Names an operation under way on one wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What is done to one 64-bit word of another node's memory, without anything coming between. The old
/// value is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    Add(u64),
    Swap(u64),
    CompareSwap { expected: u64, new: u64 },
    And(u64),
    Or(u64),
    Xor(u64),
}

impl Atomic {
    /// The word afterwards.
    pub fn apply(self, word: u64) -> u64 {
        match self {
            Atomic::Add(by) => word.wrapping_add(by),
            Atomic::Swap(new) => new,
            Atomic::CompareSwap { expected, new } if word == expected => new,
            Atomic::CompareSwap { .. } => word,
            Atomic::And(with) => word & with,
            Atomic::Or(with) => word | with,
            Atomic::Xor(with) => word ^ with,
        }
    }
}

/// What has come, or has come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Message {
        from: NodeId,
        bytes: Vec<u8>,
    },
    /// A put or atomic has been carried out over there; `fetched` is an atomic's old value, and 0 for a put.
    Done {
        ticket: Ticket,
        fetched: u64,
    },
    /// The network has given a node up. What was under way to it may or may not have been carried out;
    /// nothing more comes of it.
    Lost {
        node: NodeId,
        why: String,
    },
}

/// Why something was not begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("{0} is not one of the {1} nodes of this job")]
    NoSuchNode(NodeId, usize),
    #[error(
        "bytes {at} to {end} do not lie within the {bytes} bytes of memory that each node shows the others"
    )]
    OutOfRange { at: usize, end: usize, bytes: usize },
    #[error("an atomic wants a multiple of 8, and {0} is none")]
    Misaligned(usize),
    #[error("the network gave {node} up: {why}")]
    Lost { node: NodeId, why: String },
}

/// One node's end of a fabric.
///
/// What may be relied upon: a message arrives whole and unchanged, or not at all. It may arrive twice,
/// and overtake another. (UCX loses, doubles and reorders nothing as long as it does not report a node
/// as lost; who relies on it has no means left when a connection has to be made anew.) A put's flag is
/// never visible before its data. An atomic is carried out at most once. A ticket is answered by one
/// [`Event::Done`] once the operation is visible over there, or never.
///
/// Nothing happens at a node, unless its network hardware does it alone, but within its own calls of
/// `poll` and `wait`.
pub trait Wire {
    /// Which node this is.
    fn node(&self) -> NodeId;

    /// How many there are.
    fn nodes(&self) -> usize;

    /// What this node shows the others. All nodes' memories have the same size.
    fn memory(&self) -> &Memory;

    /// Sends a message. The bytes are taken at once. To oneself too.
    fn send(&mut self, to: NodeId, message: &[u8]) -> Result<(), Trouble>;

    /// Sends a message that is `head` and then `data`, which need not be copied behind it.
    fn send_parts(&mut self, to: NodeId, head: Vec<u8>, data: Bytes) -> Result<(), Trouble> {
        self.send(to, &[&head, data.as_ref()].concat())
    }

    /// Writes into another node's memory at `at`; afterwards, if there is a flag, stores its value (second)
    /// in the word at its offset (first).
    fn put(
        &mut self,
        to: NodeId,
        at: usize,
        bytes: &[u8],
        flag: Option<(usize, u64)>,
    ) -> Result<Ticket, Trouble>;

    /// Changes the word at `at`, a multiple of 8, of another node's memory.
    fn atomic(&mut self, to: NodeId, at: usize, what: Atomic) -> Result<Ticket, Trouble>;

    /// The next thing that has come, if any. Does not wait.
    fn poll(&mut self) -> Option<Event>;

    /// Sleeps until something may have come, and so long at most.
    fn wait(&mut self, longest: Duration);
}

/// Checks the arguments of a put or atomic.
pub(crate) fn check(to: NodeId, nodes: usize, at: usize, length: usize, bytes: usize) -> Result<(), Trouble> {
    if to.index() >= nodes {
        return Err(Trouble::NoSuchNode(to, nodes));
    }
    match at.checked_add(length) {
        Some(end) if end <= bytes => Ok(()),
        end => Err(Trouble::OutOfRange { at, end: end.unwrap_or(usize::MAX), bytes }),
    }
}

/// Checks the place of a word.
pub(crate) fn check_word(to: NodeId, nodes: usize, at: usize, bytes: usize) -> Result<(), Trouble> {
    check(to, nodes, at, 8, bytes)?;
    if at % 8 == 0 { Ok(()) } else { Err(Trouble::Misaligned(at)) }
}
