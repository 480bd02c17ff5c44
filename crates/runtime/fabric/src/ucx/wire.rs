//! A node's end that is connected to the other nodes.

use super::connection::{Connection, NodeAddress};
use super::ffi::*;
use super::inbox::{Inbox, Rendezvous};
use super::library::UcxError;
use super::pending::{Pending, Report};
use super::worker::Worker;
use crate::memory::{Atomic, Memory, WordWrite};
use crate::node::NodeId;
use crate::wire::{Event, SleepingWire, Ticket, Wire, WireError, check_atomic, check_node, check_put};
use bytes::Bytes;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// How long dropping a wire waits for UCX to close its connections.
const CLOSING: Duration = Duration::from_millis(500);
/// Data of at least so many bytes are not copied behind their head.
const LONG: usize = 2048;
/// The longest head that goes in UCX's header. Each transport limits the header's length; all transports of
/// UCX take some hundred bytes.
const MAX_HEAD_IN_HEADER: usize = 64;

/// One node's end of a fabric over UCX.
pub struct UcxWire {
    node: NodeId,
    /// By node; None: this one.
    connections: Vec<Option<Connection>>,
    pending: Vec<Pending>,
    tickets: u64,
    worker: Worker,
}

// SAFETY: as for `Worker`, to which connections and requests belong.
unsafe impl Send for UcxWire {}

impl UcxWire {
    pub(super) fn new(worker: Worker, node: NodeId, addresses: &[Vec<u8>]) -> Result<UcxWire, UcxError> {
        let mut wire = UcxWire { node, connections: Vec::new(), pending: Vec::new(), tickets: 0, worker };
        if node.index() >= addresses.len() {
            return Err(UcxError::Addresses(addresses.len(), node.index() + 1));
        }
        for (index, address) in addresses.iter().enumerate() {
            let to = NodeId(index as u32);
            if to == node {
                wire.connections.push(None);
                continue;
            }
            let connection = NodeAddress::parse(address)
                .ok_or(UcxError::Addresses(addresses.len(), addresses.len()))
                .and_then(|address| Connection::new(&wire.worker, to, &address));
            match connection {
                Ok(connection) => wire.connections.push(Some(connection)),
                Err(error) => {
                    // UCX 1.13 ends the process if a worker is destroyed while it makes connections. Leaking
                    // its memory is better.
                    std::mem::forget(wire);
                    return Err(error);
                }
            }
        }
        Ok(wire)
    }

    /// The connection to a node that has not been given up; None for this node itself.
    fn connection(&self, to: NodeId) -> Result<Option<&Connection>, WireError> {
        match &self.connections[to.index()] {
            Some(Connection { loss: Some(why), .. }) => Err(WireError::Lost { node: to, why: why.clone() }),
            connection => Ok(connection.as_ref()),
        }
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    fn inbox(&mut self) -> &mut Inbox {
        // SAFETY: no callback runs outside of `worker_progress`, and all other access is through `&mut self`.
        unsafe { &mut *self.worker.inbox }
    }

    /// Reports an operation on this node's own memory as completed.
    fn complete(&mut self, fetched: u64) -> Ticket {
        let ticket = self.ticket();
        self.inbox().events.push_back(Event::Completed { ticket, fetched });
        ticket
    }

    fn progress(&mut self) {
        let library = self.worker.library;
        loop {
            // SAFETY: the worker is alive, and no reference into the inbox is.
            let has_progressed = unsafe { (library.worker_progress)(self.worker.worker) } != 0;
            if !has_progressed || !self.inbox().events.is_empty() {
                break;
            }
        }
        for rendezvous in std::mem::take(&mut self.inbox().rendezvous) {
            self.fetch(rendezvous);
        }
        for mut pending in std::mem::take(&mut self.pending) {
            if pending.is_completed(library) {
                self.inbox().events.extend(pending.into_event());
            } else {
                self.pending.push(pending);
            }
        }
    }

    /// UCX's status (busy, if something has come in between), and the descriptor.
    fn try_arm(&mut self) -> (Status, RawFd) {
        let library = self.worker.library;
        let mut descriptor = -1;
        // SAFETY: the worker is alive and was made with wake-ups.
        let status = unsafe {
            match (library.worker_get_efd)(self.worker.worker, &mut descriptor) {
                OK => (library.worker_arm)(self.worker.worker),
                status => status,
            }
        };
        (status, descriptor)
    }

    /// Fetches the data of a large message.
    fn fetch(&mut self, Rendezvous { from, head, descriptor, length }: Rendezvous) {
        let (start, mut bytes) = (head.len(), head);
        bytes.resize(start + length, 0);
        let mut pending = Pending::new(vec![bytes], Report::Message { from });
        let buffer = pending.buffers[0][start..].as_mut_ptr().cast();
        let receive = self.worker.library.am_recv_data_nbx;
        let plain = RequestParam::plain();
        // SAFETY: the descriptor is valid until this call; the buffer is kept until the request is completed.
        pending.add(unsafe { receive(self.worker.worker, descriptor, buffer, length, &plain) });
        self.pending.push(pending);
    }
}

impl Wire for UcxWire {
    fn node(&self) -> NodeId {
        self.node
    }

    fn nodes(&self) -> usize {
        self.connections.len()
    }

    fn memory(&self) -> &Memory {
        &self.worker.memory
    }

    fn send(&mut self, to: NodeId, message: &[u8]) -> Result<(), WireError> {
        self.send_parts(to, message.to_vec(), Bytes::new())
    }

    fn send_parts(&mut self, to: NodeId, mut head: Vec<u8>, data: Bytes) -> Result<(), WireError> {
        check_node(to, self.nodes())?;
        let Some(connection) = self.connection(to)? else {
            let from = self.node;
            head.extend_from_slice(&data);
            self.inbox().events.push_back(Event::Message { from, bytes: head });
            return Ok(());
        };
        // UCX's header is this node's number and, for a long message, the head. So the data need not be
        // copied behind the head.
        let mut header = self.node.0.to_le_bytes().to_vec();
        let data = if data.len() < LONG || head.len() > MAX_HEAD_IN_HEADER {
            head.extend_from_slice(&data);
            Bytes::from(head)
        } else {
            header.append(&mut head);
            data
        };
        let (header_start, header_length) = (header.as_ptr(), header.len());
        let (data_start, data_length) = (data.as_ptr(), data.len());
        let mut pending = Pending::new(vec![header], Report::Sent(data));
        // SAFETY: header and data are kept, where they are, until the request is completed.
        pending.add(unsafe {
            (self.worker.library.am_send_nbx)(
                connection.endpoint,
                0,
                header_start.cast(),
                header_length,
                data_start.cast(),
                data_length,
                &RequestParam::plain(),
            )
        });
        if !pending.requests.is_empty() {
            self.pending.push(pending);
        }
        Ok(())
    }

    fn put(
        &mut self,
        to: NodeId,
        at: usize,
        bytes: &[u8],
        flag: Option<WordWrite>,
    ) -> Result<Ticket, WireError> {
        check_put(to, self.nodes(), at, bytes.len(), flag, self.worker.memory.len())?;
        if self.connection(to)?.is_none() {
            self.worker.memory.put(at, bytes, flag);
            return Ok(self.complete(0));
        }
        let ticket = self.ticket();
        let flag_bytes = flag.map_or(Vec::new(), |flag| flag.value.to_ne_bytes().to_vec());
        let report = Report::Completed { ticket, fetched: Box::new(0) };
        let mut pending = Pending::new(vec![bytes.to_vec(), flag_bytes], report);
        let connection = self.connection(to)?.expect("another node");
        let library = self.worker.library;
        let plain = RequestParam::plain();
        // SAFETY: the buffers are kept until all requests are completed; offsets were checked against the
        // memory's size, which is the same at all nodes.
        unsafe {
            let put = |data: *const u8, length: usize, at: usize| {
                let there = connection.remote_address(at);
                (library.put_nbx)(connection.endpoint, data.cast(), length, there, connection.key, &plain)
            };
            let (data, flag_data) = (pending.buffers[0].as_ptr(), pending.buffers[1].as_ptr());
            pending.add(put(data, bytes.len(), at));
            if let Some(flag) = flag {
                // What comes after the fence is not visible before what came before it.
                (library.worker_fence)(self.worker.worker);
                pending.add(put(flag_data, 8, flag.at));
            }
            // A put is completed when its buffer can be used again; a flush, when all is visible at the
            // target.
            pending.add((library.ep_flush_nbx)(connection.endpoint, &plain));
        }
        self.pending.push(pending);
        Ok(ticket)
    }

    fn atomic(&mut self, to: NodeId, at: usize, operation: Atomic) -> Result<Ticket, WireError> {
        check_atomic(to, self.nodes(), at, self.worker.memory.len())?;
        if self.connection(to)?.is_none() {
            let fetched = self.worker.memory.update(at, operation);
            return Ok(self.complete(fetched));
        }
        let ticket = self.ticket();
        let (code, operand, reply) = match operation {
            Atomic::Add(by) => (ATOMIC_ADD, by, 0),
            Atomic::Swap(new) => (ATOMIC_SWAP, new, 0),
            // The operand is the expected value; the buffer for the old value brings the new one.
            Atomic::CompareSwap { expected, new } => (ATOMIC_CSWAP, expected, new),
            Atomic::And(with) => (ATOMIC_AND, with, 0),
            Atomic::Or(with) => (ATOMIC_OR, with, 0),
            Atomic::Xor(with) => (ATOMIC_XOR, with, 0),
        };
        let mut fetched = Box::new(reply);
        let param = RequestParam {
            op_attr_mask: OP_ATTR_DATATYPE | OP_ATTR_REPLY_BUFFER,
            datatype: DATATYPE_8_BYTES,
            reply_buffer: (&raw mut *fetched).cast(),
            ..RequestParam::plain()
        };
        let report = Report::Completed { ticket, fetched };
        let mut pending = Pending::new(vec![operand.to_ne_bytes().to_vec()], report);
        let connection = self.connection(to)?.expect("another node");
        let (operand, there) = (pending.buffers[0].as_ptr().cast(), connection.remote_address(at));
        let (endpoint, key) = (connection.endpoint, connection.key);
        let begin = self.worker.library.atomic_op_nbx;
        // SAFETY: operand and reply are kept until the request is completed; the offset was checked.
        pending.add(unsafe { begin(endpoint, code, operand, 1, there, key, &param) });
        self.pending.push(pending);
        Ok(ticket)
    }

    fn poll(&mut self) -> Option<Event> {
        if self.inbox().events.is_empty() {
            self.progress();
        }
        self.next_event()
    }

    fn wait(&mut self, longest: Duration) {
        let until = Instant::now() + longest;
        loop {
            self.progress();
            let left = until.saturating_duration_since(Instant::now());
            if !self.inbox().events.is_empty() || left.is_zero() {
                return;
            }
            match self.try_arm() {
                (ERR_BUSY, _) => continue, // something came in between
                (OK, fd) => {
                    // Rounded up: waiting for 0 ms would be polling.
                    let milliseconds = left.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32;
                    let mut watched = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
                    // SAFETY: one descriptor, alive with the worker.
                    unsafe { libc::poll(&mut watched, 1, milliseconds) };
                }
                _ => std::thread::sleep(left.min(Duration::from_millis(1))),
            }
        }
    }
}

impl SleepingWire for UcxWire {
    fn next_event(&mut self) -> Option<Event> {
        let event = self.inbox().events.pop_front();
        if let Some(Event::Lost { node, why }) = &event {
            if let Some(connection) = &mut self.connections[node.index()] {
                connection.loss = Some(why.clone());
            }
        }
        event
    }

    fn arm(&mut self) -> Option<RawFd> {
        self.progress();
        if !self.inbox().events.is_empty() {
            return None;
        }
        match self.try_arm() {
            (OK, descriptor) => Some(descriptor),
            _ => None,
        }
    }

    fn is_flushed(&mut self) -> bool {
        self.progress();
        self.pending.is_empty()
    }

    /// While a connection is being made, UCX may need to be called without any event saying so.
    fn must_be_called(&self) -> bool {
        !self.pending.is_empty()
    }
}

impl Drop for UcxWire {
    fn drop(&mut self) {
        let library = self.worker.library;
        let mut closing = Pending::new(Vec::new(), Report::Nothing);
        for connection in self.connections.iter().flatten() {
            connection.begin_close(library, &mut closing);
        }
        let until = Instant::now() + CLOSING;
        self.pending.push(closing);
        while !self.pending.is_empty() && Instant::now() < until {
            // SAFETY: the worker is alive.
            unsafe { (library.worker_progress)(self.worker.worker) };
            self.pending.retain_mut(|pending| !pending.is_completed(library));
        }
        // If UCX still has a request now, leaking its memory is better than freeing what UCX may still use.
        std::mem::take(&mut self.pending).into_iter().for_each(std::mem::forget);
        for connection in self.connections.drain(..).flatten() {
            // SAFETY: closed above.
            unsafe { connection.free() };
        }
    }
}
