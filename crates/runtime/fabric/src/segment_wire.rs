//! A wire between processes of one machine: messages through the segment's rings, puts and atomic operations
//! straight into the other process's memory.
//!
//! Every process maps the same [`Segment`], which one of them has made with [`bytes_needed`]. Messages
//! larger than a ring's largest record go in parts. Parts that find no room wait at their sender, up to a
//! bound; beyond that the message is lost, which a wire may do. Only a receiver that has stopped or died
//! is ever that far behind.
//!
//! May use: the segment. Must never: wait for a receiver.

use crate::memory::{Atomic, Memory, WordWrite};
use crate::node::NodeId;
use crate::wire::{Event, Ticket, Wire, WireError, check_atomic, check_node, check_put};
use evenkeel_segment::channel::{self, Channels, Reader, Writer};
use evenkeel_segment::eventcount::{self, Fencing};
use evenkeel_segment::layout::PAGE;
use evenkeel_segment::{Mapped, Segment};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Kind of a record that ends a message.
const LAST: u8 = 1;
/// Kind of a record after which more of the message follows.
const MORE: u8 = 2;
/// Bytes that wait at their sender for one receiver at most.
const MAX_UNSENT_BYTES: usize = 64 << 20;
/// How long a sleep lasts at most while something waits for room.
const MAX_SLEEP_FOR_ROOM: Duration = Duration::from_millis(1);

/// Why a segment cannot serve as a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentWireError {
    /// Too few or too many processes.
    #[error("a segment has rings for 2 to 256 processes, not for {0}")]
    Processes(usize),
    /// The segment is smaller than [`bytes_needed`].
    #[error("a segment of {0} bytes is too small: {1} are needed")]
    TooSmall(usize, usize),
    /// There are fewer nodes.
    #[error("{0} is not one of {1} nodes")]
    NoSuchNode(NodeId, usize),
}

/// Bytes of address space of a segment for so many processes, each of which exposes so much memory.
pub fn bytes_needed(nodes: usize, memory_bytes: usize) -> Result<usize, SegmentWireError> {
    const HUGE: usize = 1 << 46;
    let rings = HUGE - Channels::new(nodes, HUGE).ok_or(SegmentWireError::Processes(nodes))?.start();
    let memories = PAGE + nodes * memory_bytes.max(1).next_multiple_of(PAGE);
    // Rings take a quarter of a segment at most.
    Ok((rings + memories).max(4 * rings).next_multiple_of(PAGE))
}

/// The rings to and from one other process, and its memory.
struct Peer {
    node: NodeId,
    memory: Memory,
    eventcount: Mapped,
    writer: Writer<Mapped>,
    reader: Reader<Mapped>,
    /// Records that have found no room, and their bytes.
    unsent: VecDeque<(u8, Vec<u8>)>,
    unsent_bytes: usize,
    /// The first parts of a message whose last part has not come yet.
    incomplete: Vec<u8>,
}

/// One process's end.
pub struct SegmentWire {
    node: NodeId,
    memory: Memory,
    eventcount: Mapped,
    largest_record: usize,
    /// By node; None: this one.
    peers: Vec<Option<Peer>>,
    inbox: VecDeque<Event>,
    tickets: u64,
    /// Kept because rings and eventcounts lie in it. Dropped last.
    _segment: Arc<Segment>,
}

impl SegmentWire {
    /// This process's end in a segment that is used for nothing else. Each node is opened once.
    pub fn new(
        segment: Arc<Segment>,
        node: NodeId,
        nodes: usize,
        memory_bytes: usize,
    ) -> Result<SegmentWire, SegmentWireError> {
        let needed = bytes_needed(nodes, memory_bytes)?;
        let channels = Channels::new(nodes, segment.bytes())
            .filter(|_| segment.bytes() >= needed)
            .ok_or(SegmentWireError::TooSmall(segment.bytes(), needed))?;
        if node.index() >= nodes {
            return Err(SegmentWireError::NoSuchNode(node, nodes));
        }
        let stride = memory_bytes.max(1).next_multiple_of(PAGE);
        let memory = |node: usize| {
            Memory::in_segment(&segment, PAGE + node * stride, memory_bytes.max(1).next_multiple_of(8))
        };
        let (me, ring_bytes) = (node.index(), channels.ring_bytes());
        let peer = |other: usize| {
            (other != me).then(|| Peer {
                node: NodeId(other as u32),
                memory: memory(other),
                eventcount: segment.at(channels.eventcount(other)),
                writer: Writer::new(segment.at(channels.ring(me, other)), ring_bytes, Fencing::Both),
                reader: Reader::new(segment.at(channels.ring(other, me)), ring_bytes),
                unsent: VecDeque::new(),
                unsent_bytes: 0,
                incomplete: Vec::new(),
            })
        };
        Ok(SegmentWire {
            node,
            memory: memory(me),
            eventcount: segment.at(channels.eventcount(me)),
            largest_record: channels.largest_record(),
            peers: (0..nodes).map(peer).collect(),
            inbox: VecDeque::new(),
            tickets: 0,
            _segment: Arc::clone(&segment),
        })
    }

    fn memory_of(&self, node: NodeId) -> &Memory {
        self.peers[node.index()].as_ref().map_or(&self.memory, |peer| &peer.memory)
    }

    /// Reports an operation as completed. Operations on memory are completed as soon as they are begun.
    fn complete(&mut self, to: NodeId, fetched: u64) -> Ticket {
        if let Some(peer) = &self.peers[to.index()] {
            eventcount::notify(&peer.eventcount, Fencing::Both);
        }
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.inbox.push_back(Event::Completed { ticket, fetched });
        ticket
    }

    fn progress(&mut self) {
        for peer in self.peers.iter_mut().flatten() {
            peer.write_unsent();
            peer.read(&mut self.inbox);
        }
    }
}

impl Peer {
    /// Puts a message, cut into records of at most `largest_record`, behind those that wait for room.
    fn enqueue(&mut self, message: &[u8], largest_record: usize) {
        let parts = message.len().div_ceil(largest_record).max(1);
        for part in 0..parts {
            let end = message.len().min((part + 1) * largest_record);
            let bytes = message[part * largest_record..end].to_vec();
            self.unsent_bytes += bytes.len();
            self.unsent.push_back((if part + 1 == parts { LAST } else { MORE }, bytes));
        }
    }

    /// Writes records that wait, as far as there is room.
    fn write_unsent(&mut self) {
        let mut has_written = false;
        while let Some((kind, bytes)) = self.unsent.front() {
            if !self.writer.write(*kind, &[bytes]) {
                break;
            }
            self.unsent_bytes -= bytes.len();
            self.unsent.pop_front();
            has_written = true;
        }
        if has_written {
            channel::notify(&self.eventcount, Fencing::Both);
        }
    }

    /// Takes every record that is there.
    fn read(&mut self, inbox: &mut VecDeque<Event>) {
        while let Some(record) = self.reader.next() {
            // SAFETY: the payload is valid until the reader advances.
            let payload = unsafe { std::slice::from_raw_parts(record.payload, record.bytes) };
            self.incomplete.extend_from_slice(payload);
            if record.kind == LAST {
                let bytes = std::mem::take(&mut self.incomplete);
                inbox.push_back(Event::Message { from: self.node, bytes });
            }
            if self.reader.advance(record) {
                eventcount::notify(&self.eventcount, Fencing::Both); // the writer may wait for room
            }
        }
    }
}

impl Wire for SegmentWire {
    fn node(&self) -> NodeId {
        self.node
    }

    fn nodes(&self) -> usize {
        self.peers.len()
    }

    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn send(&mut self, to: NodeId, message: &[u8]) -> Result<(), WireError> {
        check_node(to, self.nodes())?;
        let Some(peer) = &mut self.peers[to.index()] else {
            self.inbox.push_back(Event::Message { from: self.node, bytes: message.to_vec() });
            return Ok(());
        };
        if peer.unsent_bytes + message.len() <= MAX_UNSENT_BYTES {
            peer.enqueue(message, self.largest_record);
        }
        peer.write_unsent();
        Ok(())
    }

    fn put(
        &mut self,
        to: NodeId,
        at: usize,
        bytes: &[u8],
        flag: Option<WordWrite>,
    ) -> Result<Ticket, WireError> {
        check_put(to, self.nodes(), at, bytes.len(), flag, self.memory.len())?;
        let memory = self.memory_of(to);
        memory.put(at, bytes, flag);
        Ok(self.complete(to, 0))
    }

    fn atomic(&mut self, to: NodeId, at: usize, operation: Atomic) -> Result<Ticket, WireError> {
        check_atomic(to, self.nodes(), at, self.memory.len())?;
        let fetched = self.memory_of(to).update(at, operation);
        Ok(self.complete(to, fetched))
    }

    fn poll(&mut self) -> Option<Event> {
        if self.inbox.is_empty() {
            self.progress();
        }
        self.inbox.pop_front()
    }

    fn wait(&mut self, longest: Duration) {
        let end = Instant::now() + longest;
        loop {
            self.progress();
            let left = end.saturating_duration_since(Instant::now());
            if !self.inbox.is_empty() || left.is_zero() {
                return;
            }
            let wants_room = self.peers.iter().flatten().any(|peer| !peer.unsent.is_empty());
            let timeout = if wants_room { left.min(MAX_SLEEP_FOR_ROOM) } else { left };
            let peers = &mut self.peers;
            eventcount::sleep_unless(&self.eventcount, Fencing::Both, timeout.as_nanos() as u64, || {
                peers.iter_mut().flatten().any(|peer| peer.reader.next().is_some())
            });
            if !wants_room {
                // A put wakes this process, too, and leaves nothing to read: the caller looks for the flag
                // itself.
                self.progress();
                return;
            }
        }
    }
}
