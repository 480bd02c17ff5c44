//! A node's end that knows the other nodes.

use super::MAX_UNSENT_BYTES;
use super::connection::ConnectionError;
use super::connections::{ConnectionEvent, Connections, RefusedConnections};
use super::frame::{FrameError, IncomingFrame, MAX_MESSAGE_BYTES, OutgoingFrame};
use super::peer::Peer;
use super::session::MAX_RECORD_BYTES;
use crate::memory::{Atomic, Memory, WordWrite};
use crate::node::NodeId;
use crate::wire::{Event, SleepingWire, Ticket, Wire, WireError, check_atomic, check_node, check_put};
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::time::{Duration, Instant};

/// Encrypted bytes that a connection holds until the kernel takes them; the rest waits as it is.
const MAX_UNWRITTEN_BYTES: usize = 256 << 10;
/// How long dropping a wire waits until the other nodes have what was sent to them.
const CLOSING: Duration = Duration::from_millis(500);

/// One node's end of a fabric over TLS.
pub struct TlsWire {
    node: NodeId,
    /// Where all other nodes reach this one, if that is one address.
    reached_at: Option<SocketAddr>,
    peers: Vec<Peer>,
    memory: Memory,
    connections: Connections,
    inbox: VecDeque<Event>,
    last_ticket: u64,
    /// Operations that are not completed, and where they are carried out.
    open: HashMap<u64, NodeId>,
    /// Buffers that are used again.
    events: Vec<ConnectionEvent>,
    record: Vec<u8>,
}

impl TlsWire {
    /// `peers`: where each node listens; None: this one.
    pub(super) fn new(
        node: NodeId,
        reached_at: Option<SocketAddr>,
        peers: Vec<Option<SocketAddr>>,
        memory: Memory,
        connections: Connections,
    ) -> TlsWire {
        TlsWire {
            node,
            reached_at,
            peers: peers.into_iter().map(Peer::new).collect(),
            memory,
            connections,
            inbox: VecDeque::new(),
            last_ticket: 0,
            open: HashMap::new(),
            events: Vec::new(),
            record: Vec::with_capacity(MAX_RECORD_BYTES),
        }
    }

    /// Where all other nodes reach this one, if that is one address.
    pub fn reached_at(&self) -> Option<SocketAddr> {
        self.reached_at
    }

    /// Where each node is reached; None: this one.
    pub fn addresses(&self) -> impl Iterator<Item = Option<SocketAddr>> + '_ {
        self.peers.iter().map(|peer| peer.address)
    }

    /// Becomes readable when there may be an event, after [`SleepingWire::arm`].
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.connections.poller().as_fd()
    }

    /// Connections that were dropped because the other end does not know the job's secret.
    pub fn refused(&self) -> &RefusedConnections {
        self.connections.refused()
    }

    #[cfg(test)]
    pub(super) fn connections(&self) -> &Connections {
        &self.connections
    }

    fn ticket(&mut self) -> Ticket {
        self.last_ticket += 1;
        Ticket(self.last_ticket)
    }

    /// Reports an operation on this node's own memory as completed.
    fn complete(&mut self, fetched: u64) -> Ticket {
        let ticket = self.ticket();
        self.inbox.push_back(Event::Completed { ticket, fetched });
        ticket
    }

    /// Sends frames, or keeps them until they can be sent.
    fn send_frames(
        &mut self,
        to: NodeId,
        frames: impl IntoIterator<Item = OutgoingFrame>,
    ) -> Result<(), WireError> {
        let peer = &mut self.peers[to.index()];
        if let Some(why) = &peer.loss {
            return Err(WireError::Lost { node: to, why: why.clone() });
        }
        frames.into_iter().for_each(|frame| peer.enqueue(frame));
        if peer.waiting() > MAX_UNSENT_BYTES {
            let why = format!("it takes nothing, and {} bytes wait for it", peer.waiting());
            self.lose(to, why.clone());
            return Err(WireError::Lost { node: to, why });
        }
        self.write_to(to);
        Ok(())
    }

    /// Sends an operation that the other node will report as done.
    fn send_operation(
        &mut self,
        to: NodeId,
        ticket: Ticket,
        frames: Vec<OutgoingFrame>,
    ) -> Result<Ticket, WireError> {
        self.open.insert(ticket.0, to);
        self.send_frames(to, frames).inspect_err(|_| {
            self.open.remove(&ticket.0);
        })?;
        Ok(ticket)
    }

    /// Writes what waits for a node, as far as its connection takes it; connects to it first.
    fn write_to(&mut self, to: NodeId) {
        let peer = &mut self.peers[to.index()];
        if peer.waiting() == 0 {
            return;
        }
        let Some(key) = peer.connection() else { return self.connect(to) };
        if let Err(error) = self.write_over(key, to) {
            self.lose(to, error.to_string());
        }
    }

    fn write_over(&mut self, key: u64, to: NodeId) -> Result<(), ConnectionError> {
        let peer = &mut self.peers[to.index()];
        loop {
            let connection = self.connections.get_mut(key).ok_or(ConnectionError::Ended)?;
            while peer.waiting() > 0 && connection.unwritten() < MAX_UNWRITTEN_BYTES {
                self.record.clear();
                peer.take_record(&mut self.record);
                connection.encrypt(&self.record)?;
            }
            self.connections.write(key)?;
            let connection = self.connections.get_mut(key).ok_or(ConnectionError::Ended)?;
            if peer.waiting() == 0 || connection.unwritten() > 0 {
                return Ok(());
            }
        }
    }

    fn connect(&mut self, to: NodeId) {
        let now = Instant::now();
        let peer = &mut self.peers[to.index()];
        let Some(address) = peer.address else { return };
        if !peer.begin_attempt(now) {
            return;
        }
        if let Err(error) = self.connections.connect(to, address) {
            self.attempt_failed(to, &error.into());
        }
    }

    fn attempt_failed(&mut self, to: NodeId, error: &ConnectionError) {
        let peer = &mut self.peers[to.index()];
        let is_slow = matches!(error, ConnectionError::TookTooLong);
        match peer.attempt_failed(Instant::now(), is_slow) {
            Some(next) => self.connections.call_at(Some(next)),
            // What waits can go over the connection that the node has made.
            None if peer.is_connected() => peer.attempt_succeeded(),
            None => self.lose(to, error.to_string()),
        }
    }

    /// Gives a node up.
    fn lose(&mut self, node: NodeId, why: String) {
        let peer = &mut self.peers[node.index()];
        if peer.loss.is_some() {
            return;
        }
        for key in [peer.outgoing, peer.incoming].into_iter().flatten() {
            self.connections.drop_connection(key);
        }
        peer.lose(why.clone());
        self.open.retain(|_, target| *target != node);
        self.inbox.push_back(Event::Lost { node, why });
    }

    fn progress(&mut self, longest: Duration) {
        let mut events = std::mem::take(&mut self.events);
        let is_time = self.connections.progress(longest, &mut events);
        for event in events.drain(..) {
            self.take_event(event);
        }
        self.events = events;
        if is_time {
            self.attempt_again();
        }
    }

    /// Connects to the nodes to which it is time to connect again.
    fn attempt_again(&mut self) {
        let now = Instant::now();
        for number in 0..self.peers.len() {
            let to = NodeId(number as u32);
            match self.peers[number].next_attempt() {
                Some(at) if at <= now => self.write_to(to),
                at => self.connections.call_at(at),
            }
        }
    }

    fn take_event(&mut self, event: ConnectionEvent) {
        match event {
            ConnectionEvent::Established { key, node, is_outgoing } => {
                self.established(key, node, is_outgoing);
                self.write_to(node);
            }
            ConnectionEvent::Frame { node, frame } => {
                if self.peers[node.index()].loss.is_none() {
                    if let Err(error) = self.take_frame(node, frame) {
                        self.lose(node, error.to_string());
                    }
                }
            }
            ConnectionEvent::Written { node } => self.write_to(node),
            ConnectionEvent::Left { key, node } => self.left(key, node),
            ConnectionEvent::Failed { node, was_established: true, error } => {
                self.lose(node, error.to_string());
            }
            ConnectionEvent::Failed { node, error, .. } => self.attempt_failed(node, &error),
        }
    }

    fn established(&mut self, key: u64, node: NodeId, is_outgoing: bool) {
        let peer = &mut self.peers[node.index()];
        let place = if is_outgoing { &mut peer.outgoing } else { &mut peer.incoming };
        if peer.loss.is_some() || place.is_some() {
            return self.connections.drop_connection(key);
        }
        *place = Some(key);
        if is_outgoing {
            peer.attempt_succeeded();
        }
    }

    /// A node sends no more over a connection. Once it has no other one, it is gone.
    fn left(&mut self, key: u64, node: NodeId) {
        let peer = &mut self.peers[node.index()];
        peer.leaves(key);
        if !peer.is_connected() {
            self.lose(node, "it has closed its connection".into());
        }
    }

    fn take_frame(&mut self, from: NodeId, frame: IncomingFrame) -> Result<(), FrameError> {
        let (nodes, memory_bytes) = (self.nodes(), self.memory.len());
        match frame {
            IncomingFrame::Message(bytes) => self.inbox.push_back(Event::Message { from, bytes }),
            IncomingFrame::Put { at, ticket, flag, data } => {
                check_put(self.node, nodes, at, data.len(), flag, memory_bytes)
                    .map_err(|_| FrameError::Operation)?;
                self.memory.put(at, &data, flag);
                if ticket != 0 {
                    let _ = self.send_frames(from, [OutgoingFrame::of_done(ticket, 0)]);
                }
            }
            IncomingFrame::Atomic { at, ticket, operation } => {
                check_atomic(self.node, nodes, at, memory_bytes).map_err(|_| FrameError::Operation)?;
                let fetched = self.memory.update(at, operation);
                let _ = self.send_frames(from, [OutgoingFrame::of_done(ticket, fetched)]);
            }
            IncomingFrame::Done { ticket, fetched } => {
                if self.open.get(&ticket) != Some(&from) {
                    return Err(FrameError::Operation);
                }
                self.open.remove(&ticket);
                self.inbox.push_back(Event::Completed { ticket: Ticket(ticket), fetched });
            }
        }
        Ok(())
    }

    fn is_all_written(&mut self) -> bool {
        self.peers.iter().all(|peer| peer.waiting() == 0)
            && self.connections.iter_mut().all(|connection| connection.unwritten() == 0)
    }
}

impl Wire for TlsWire {
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
        self.send_parts(to, message.to_vec(), Bytes::new())
    }

    fn send_parts(&mut self, to: NodeId, mut head: Vec<u8>, data: Bytes) -> Result<(), WireError> {
        check_node(to, self.nodes())?;
        let length = head.len() + data.len();
        if length > MAX_MESSAGE_BYTES {
            return Err(WireError::TooLong(length, MAX_MESSAGE_BYTES));
        }
        if to == self.node {
            head.extend_from_slice(&data);
            self.inbox.push_back(Event::Message { from: to, bytes: head });
            return Ok(());
        }
        self.send_frames(to, OutgoingFrame::of_message(&head, data))
    }

    fn put(
        &mut self,
        to: NodeId,
        at: usize,
        bytes: &[u8],
        flag: Option<WordWrite>,
    ) -> Result<Ticket, WireError> {
        check_put(to, self.nodes(), at, bytes.len(), flag, self.memory.len())?;
        if to == self.node {
            self.memory.put(at, bytes, flag);
            return Ok(self.complete(0));
        }
        let ticket = self.ticket();
        self.send_operation(to, ticket, OutgoingFrame::of_put(at, bytes, flag, ticket.0))
    }

    fn atomic(&mut self, to: NodeId, at: usize, operation: Atomic) -> Result<Ticket, WireError> {
        check_atomic(to, self.nodes(), at, self.memory.len())?;
        if to == self.node {
            let fetched = self.memory.update(at, operation);
            return Ok(self.complete(fetched));
        }
        let ticket = self.ticket();
        self.send_operation(to, ticket, vec![OutgoingFrame::of_atomic(at, operation, ticket.0)])
    }

    fn poll(&mut self) -> Option<Event> {
        if self.inbox.is_empty() {
            self.progress(Duration::ZERO);
        }
        self.inbox.pop_front()
    }

    fn wait(&mut self, longest: Duration) {
        let until = Instant::now() + longest;
        self.progress(Duration::ZERO);
        while self.inbox.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.progress(left);
        }
    }
}

impl SleepingWire for TlsWire {
    fn next_event(&mut self) -> Option<Event> {
        self.inbox.pop_front()
    }

    fn arm(&mut self) -> Option<RawFd> {
        self.progress(Duration::ZERO);
        self.inbox.is_empty().then(|| self.connections.poller().descriptor())
    }

    fn is_flushed(&mut self) -> bool {
        self.progress(Duration::ZERO);
        self.is_all_written()
    }

    fn must_be_called(&self) -> bool {
        false // the descriptor becomes readable for everything, also when a time has come
    }
}

impl Drop for TlsWire {
    /// Says that this end sends no more, and waits for a while until the other nodes' kernels have what was
    /// sent.
    fn drop(&mut self) {
        let mut closing: Vec<u64> =
            self.peers.iter().flat_map(|peer| [peer.outgoing, peer.incoming]).flatten().collect();
        closing.retain(|key| {
            let connection = self.connections.get_mut(*key);
            connection.is_some_and(|connection| connection.encrypt_close().is_ok())
        });
        let until = Instant::now() + CLOSING;
        let mut buffer = [0; 4096];
        loop {
            closing.retain(|key| {
                let connection = self.connections.get_mut(*key);
                connection.is_some_and(|connection| connection.is_closing(&mut buffer))
            });
            if closing.is_empty() || Instant::now() >= until {
                return;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}
