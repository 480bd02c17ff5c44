//! One node's end of a fabric: what it can do, and what may be relied upon.

use crate::memory::{Atomic, Memory, WordWrite};
use crate::node::NodeId;
use bytes::Bytes;
use std::os::fd::RawFd;
use std::time::Duration;

/// Names an operation that was begun on one wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What a wire reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message has arrived.
    Message {
        /// Its sender.
        from: NodeId,
        /// The whole of it.
        bytes: Vec<u8>,
    },
    /// A put or an atomic operation has been carried out at its target.
    Completed {
        /// What `put` or `atomic` returned.
        ticket: Ticket,
        /// The old value of the word, for an atomic operation; 0 for a put.
        fetched: u64,
    },
    /// The network has given a node up. Operations under way to it may or may not have been carried out; they
    /// are never reported as completed.
    Lost {
        /// Which node.
        node: NodeId,
        /// What the network says.
        why: String,
    },
}

/// Why a wire did not begin an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The job has fewer nodes.
    #[error("{0} is not one of the {1} nodes of this job")]
    NoSuchNode(NodeId, usize),
    /// The operation would reach beyond the memory.
    #[error("bytes {at} to {end} do not lie within the {bytes} bytes of memory that each node exposes")]
    OutOfRange {
        /// The first byte.
        at: usize,
        /// The first byte behind the last one.
        end: usize,
        /// Size of the memory.
        bytes: usize,
    },
    /// A word's offset is no multiple of 8.
    #[error("a word lies at a multiple of 8, and {0} is none")]
    Misaligned(usize),
    /// The message is longer than the wire takes.
    #[error("a message of {0} bytes is too long: {1} are the maximum")]
    TooLong(usize, usize),
    /// The network has given the node up.
    #[error("the network gave {node} up: {why}")]
    Lost {
        /// Which node.
        node: NodeId,
        /// What the network says.
        why: String,
    },
}

/// One node's end of a fabric.
///
/// What may be relied upon:
///
/// * A message arrives whole and unchanged, or not at all. It may arrive twice, and may overtake another one.
///   (UCX loses, duplicates and reorders nothing until it reports a node as lost; but a user that relies on
///   that has no means left when a connection has to be made anew.)
/// * A put's flag is never visible before its data.
/// * An atomic operation is carried out at most once.
/// * A ticket is answered by one [`Event::Completed`], once the operation is visible at its target, or never.
///
/// Nothing happens at a node except within its own calls of `poll` and `wait`, unless its network hardware
/// does it alone.
pub trait Wire {
    /// Which node this is.
    fn node(&self) -> NodeId;

    /// How many nodes there are.
    fn nodes(&self) -> usize;

    /// The memory that this node exposes to the others. It has the same size at all nodes.
    fn memory(&self) -> &Memory;

    /// Sends a message, possibly to this node itself. The bytes are copied before the call returns.
    fn send(&mut self, to: NodeId, message: &[u8]) -> Result<(), WireError>;

    /// Sends a message that is `head` followed by `data`. An implementation may send `data` without
    /// copying it behind `head`.
    fn send_parts(&mut self, to: NodeId, head: Vec<u8>, data: Bytes) -> Result<(), WireError> {
        self.send(to, &[&head, data.as_ref()].concat())
    }

    /// Writes `bytes` into another node's memory from `at` on; then stores the flag, if there is one.
    fn put(
        &mut self,
        to: NodeId,
        at: usize,
        bytes: &[u8],
        flag: Option<WordWrite>,
    ) -> Result<Ticket, WireError>;

    /// Carries out an atomic operation on the word at `at`, a multiple of 8, of another node's memory.
    fn atomic(&mut self, to: NodeId, at: usize, operation: Atomic) -> Result<Ticket, WireError>;

    /// The next event, if there is one. Does not wait.
    fn poll(&mut self) -> Option<Event>;

    /// Sleeps until there may be an event, at most for `longest`.
    fn wait(&mut self, longest: Duration);
}

/// A wire whose user sleeps for other things, too, and therefore in a system call of its own.
pub trait SleepingWire: Wire {
    /// The next event that was there when the wire last looked at the network. Does not look again.
    fn next_event(&mut self) -> Option<Event>;

    /// Prepares for sleep: returns a descriptor that becomes readable when there may be an event. None if
    /// there is one already, or if the wire cannot sleep.
    fn arm(&mut self) -> Option<RawFd>;

    /// Whether all that was to be sent is on its way.
    fn is_flushed(&mut self) -> bool;

    /// Whether the wire has to be called now and then although its descriptor is not readable.
    fn must_be_called(&self) -> bool;
}

/// Checks that a node exists.
pub(crate) fn check_node(to: NodeId, nodes: usize) -> Result<(), WireError> {
    if to.index() < nodes { Ok(()) } else { Err(WireError::NoSuchNode(to, nodes)) }
}

/// Checks the arguments of a put: the node, and that all of it lies within `memory_bytes`.
pub(crate) fn check_put(
    to: NodeId,
    nodes: usize,
    at: usize,
    length: usize,
    flag: Option<WordWrite>,
    memory_bytes: usize,
) -> Result<(), WireError> {
    check_node(to, nodes)?;
    check_range(at, length, memory_bytes)?;
    flag.map_or(Ok(()), |flag| check_word(flag.at, memory_bytes))
}

/// Checks the arguments of an atomic operation.
pub(crate) fn check_atomic(
    to: NodeId,
    nodes: usize,
    at: usize,
    memory_bytes: usize,
) -> Result<(), WireError> {
    check_node(to, nodes)?;
    check_word(at, memory_bytes)
}

fn check_range(at: usize, length: usize, memory_bytes: usize) -> Result<(), WireError> {
    match at.checked_add(length) {
        Some(end) if end <= memory_bytes => Ok(()),
        end => Err(WireError::OutOfRange { at, end: end.unwrap_or(usize::MAX), bytes: memory_bytes }),
    }
}

fn check_word(at: usize, memory_bytes: usize) -> Result<(), WireError> {
    check_range(at, 8, memory_bytes)?;
    if at % 8 == 0 { Ok(()) } else { Err(WireError::Misaligned(at)) }
}
