//! A wire between processes of one machine: messages through the segment's rings, puts and atomics
//! straight into the other's memory.
//!
//! Every process maps the same [`Segment`], which one of them has made with [`bytes_needed`]. Message
//! larger than a ring's largest record go in parts. What finds no room waits at its sender, up to a
//! bound; beyond that it is lost, which a wire may do: only a process that takes nothing up, for it has
//! stopped or died, is ever that far behind.

use crate::memory::Memory;
use crate::wire::{check, check_word};
use crate::{Atomic, Event, NodeId, Ticket, Trouble, Wire};
use evenkeel_segment::channel::{self, Channels, Reader, Writer};
use evenkeel_segment::eventcount::{self, Fencing};
use evenkeel_segment::layout::PAGE;
use evenkeel_segment::{Mapped, Segment};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A record that ends a message, and one that does not.
const LAST: u8 = 1;
const MORE: u8 = 2;
/// What waits at its sender for one receiver at most.
const MOST_UNSENT_BYTES: usize = 64 << 20;
/// How long a sleep lasts at most while something waits for room.
const ROOM_NAP: Duration = Duration::from_millis(1);

/// Why there is no wire in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoWire {
    #[error("a segment has rings for 2 to 256 processes, not for {0}")]
    Processes(usize),
    #[error("a segment of {0} bytes is too small: {1} are needed")]
    TooSmall(usize, usize),
    #[error("{0} is not one of {1} nodes")]
    NoSuchNode(NodeId, usize),
}

/// Bytes of address space of a segment for so many processes that each show the others so much memory.
pub fn bytes_needed(nodes: usize, memory_bytes: usize) -> Result<usize, NoWire> {
    const HUGE: usize = 1 << 46;
    let rings = HUGE - Channels::new(nodes, HUGE).ok_or(NoWire::Processes(nodes))?.start();
    let memories = PAGE + nodes * memory_bytes.max(1).next_multiple_of(PAGE);
    // Rings take a quarter of a segment at most.
    Ok((rings + memories).max(4 * rings).next_multiple_of(PAGE))
}

/// The ways to and from one other process.
struct Peer {
    node: NodeId,
    memory: Memory,
    eventcount: Mapped,
    writer: Writer<Mapped>,
    reader: Reader<Mapped>,
    /// Records that have found no room, and their bytes.
    unsent: VecDeque<(u8, Vec<u8>)>,
    unsent_bytes: usize,
    /// The beginning of a message whose end has not come yet.
    begun: Vec<u8>,
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
    /// Kept: rings and bells lie in it. Dropped last.
    _segment: Arc<Segment>,
}

impl SegmentWire {
    /// This process's end in a segment that is used for nothing else. Each node is opened once.
    pub fn new(
        segment: Arc<Segment>,
        node: NodeId,
        nodes: usize,
        memory_bytes: usize,
    ) -> Result<SegmentWire, NoWire> {
        let needed = bytes_needed(nodes, memory_bytes)?;
        let channels = Channels::new(nodes, segment.bytes())
            .filter(|_| segment.bytes() >= needed)
            .ok_or(NoWire::TooSmall(segment.bytes(), needed))?;
        if node.index() >= nodes {
            return Err(NoWire::NoSuchNode(node, nodes));
        }
        let stride = memory_bytes.max(1).next_multiple_of(PAGE);
        let memory = |node: usize| {
            Memory::within(&segment, PAGE + node * stride, memory_bytes.max(1).next_multiple_of(8))
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
                begun: Vec::new(),
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

    /// What is carried out at once has come to its end at once.
    fn done(&mut self, to: NodeId, fetched: u64) -> Ticket {
        if let Some(peer) = &self.peers[to.index()] {
            eventcount::notify(&peer.eventcount, Fencing::Both);
        }
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.inbox.push_back(Event::Done { ticket, fetched });
        ticket
    }

    fn progress(&mut self) {
        for peer in self.peers.iter_mut().flatten() {
            peer.write_on();
            peer.read(&mut self.inbox);
        }
    }
}

impl Peer {
    /// Writes what waits, as far as there is room.
    fn write_on(&mut self) {
        let mut written = false;
        while let Some((kind, bytes)) = self.unsent.front() {
            if !self.writer.write(*kind, &[bytes]) {
                break;
            }
            self.unsent_bytes -= bytes.len();
            self.unsent.pop_front();
            written = true;
        }
        if written {
            channel::notify(&self.eventcount, Fencing::Both);
        }
    }

    /// Takes up every record that is there.
    fn read(&mut self, inbox: &mut VecDeque<Event>) {
        while let Some(record) = self.reader.next() {
            // SAFETY: the payload is valid until the reader advances.
            self.begun.extend_from_slice(unsafe { std::slice::from_raw_parts(record.payload, record.bytes) });
            if record.kind == LAST {
                inbox.push_back(Event::Message { from: self.node, bytes: std::mem::take(&mut self.begun) });
            }
            if self.reader.advance(record) {
                eventcount::notify(&self.eventcount, Fencing::Both); // it may wait for room
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

    fn send(&mut self, to: NodeId, message: &[u8]) -> Result<(), Trouble> {
        check(to, self.nodes(), 0, 0, 0)?;
        let Some(peer) = &mut self.peers[to.index()] else {
            self.inbox.push_back(Event::Message { from: self.node, bytes: message.to_vec() });
            return Ok(());
        };
        if peer.unsent_bytes + message.len() <= MOST_UNSENT_BYTES {
            let parts = message.len().div_ceil(self.largest_record).max(1);
            for part in 0..parts {
                let end = message.len().min((part + 1) * self.largest_record);
                let bytes = message[part * self.largest_record..end].to_vec();
                peer.unsent_bytes += bytes.len();
                peer.unsent.push_back((if part + 1 == parts { LAST } else { MORE }, bytes));
            }
        }
        peer.write_on();
        Ok(())
    }

    fn put(
        &mut self,
        to: NodeId,
        at: usize,
        bytes: &[u8],
        flag: Option<(usize, u64)>,
    ) -> Result<Ticket, Trouble> {
        check(to, self.nodes(), at, bytes.len(), self.memory.len())?;
        if let Some((flag_at, _)) = flag {
            check_word(to, self.nodes(), flag_at, self.memory.len())?;
        }
        let memory = self.memory_of(to);
        memory.write(at, bytes);
        if let Some((at, value)) = flag {
            memory.store(at, value);
        }
        Ok(self.done(to, 0))
    }

    fn atomic(&mut self, to: NodeId, at: usize, what: Atomic) -> Result<Ticket, Trouble> {
        check_word(to, self.nodes(), at, self.memory.len())?;
        let fetched = self.memory_of(to).change(at, what);
        Ok(self.done(to, fetched))
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
            let nap = if wants_room { left.min(ROOM_NAP) } else { left };
            let peers = &mut self.peers;
            eventcount::sleep_unless(&self.eventcount, Fencing::Both, nap.as_nanos() as u64, || {
                peers.iter_mut().flatten().any(|peer| peer.reader.next().is_some())
            });
            if !wants_room {
                // A put announces itself too, and leaves nothing to read here: who waits for a flag looks for
                // it himself.
                self.progress();
                return;
            }
        }
    }
}
