//! A node's end that knows the others.

use super::ffi::*;
use super::inbox::{Announced, Inbox, Peer, peer_lost};
use super::library::UcxError;
use super::pending::{Pending, Then};
use super::worker::Worker;
use crate::wire::{check, check_word};
use crate::{Atomic, Event, Memory, NodeId, Ticket, Trouble, Wire};
use bytes::Bytes;
use std::ffi::c_void;
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// How long the end of a wire waits for UCX to close its connections.
const CLOSING: Duration = Duration::from_millis(500);
/// Data that is not worth copying behind its head.
const LONG: usize = 2048;
/// The longest head that goes in UCX's header, whose length each transport limits: all that UCX has
/// take some hundred bytes.
const MOST_HEAD: usize = 64;

/// The way to one other node.
struct Endpoint {
    endpoint: *mut c_void,
    key: *mut c_void,
    /// Where the other node's memory starts, over there.
    start: u64,
    /// Why UCX has given it up.
    lost: Option<String>,
    /// From `Box::into_raw`; UCX's error handler looks into it.
    peer: *mut Peer,
}

/// One node's end of a fabric over UCX.
pub struct UcxWire {
    node: NodeId,
    /// By node; None: this one.
    endpoints: Vec<Option<Endpoint>>,
    pending: Vec<Pending>,
    tickets: u64,
    worker: Worker,
}

// SAFETY: see `Worker`; endpoints and requests are the worker's.
unsafe impl Send for UcxWire {}

/// A node's address taken apart: the worker's, the memory's start, its key.
fn parts(blob: &[u8]) -> Option<(&[u8], u64, &[u8])> {
    let (length, rest) = blob.split_first_chunk::<4>()?;
    let (address, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (start, key) = rest.split_first_chunk::<8>()?;
    (!key.is_empty()).then_some((address, u64::from_le_bytes(*start), key))
}

impl UcxWire {
    pub(super) fn new(worker: Worker, node: NodeId, addresses: &[Vec<u8>]) -> Result<UcxWire, UcxError> {
        let mut wire = UcxWire { node, endpoints: Vec::new(), pending: Vec::new(), tickets: 0, worker };
        if node.index() >= addresses.len() {
            return Err(UcxError::Addresses(addresses.len(), node.index() + 1));
        }
        for (index, blob) in addresses.iter().enumerate() {
            let to = NodeId(index as u32);
            let endpoint = if to == node {
                None
            } else {
                let made = parts(blob)
                    .ok_or(UcxError::Addresses(addresses.len(), addresses.len()))
                    .and_then(|parts| wire.endpoint(to, parts));
                match made {
                    Ok(endpoint) => Some(endpoint),
                    Err(error) => {
                        // UCX 1.13 ends the process if a worker is destroyed in the middle of making
                        // connections. Better to lose its memory.
                        std::mem::forget(wire);
                        return Err(error);
                    }
                }
            };
            wire.endpoints.push(endpoint);
        }
        Ok(wire)
    }

    fn endpoint(
        &self,
        node: NodeId,
        (address, start, key): (&[u8], u64, &[u8]),
    ) -> Result<Endpoint, UcxError> {
        let library = self.worker.library;
        let of_node = |call, status| UcxError::Failed { call, node: Some(node), why: library.words(status) };
        let peer = Box::into_raw(Box::new(Peer { inbox: self.worker.inbox, node }));
        let mut made = Endpoint { endpoint: null_mut(), key: null_mut(), start, lost: None, peer };
        // SAFETY: the mask says which fields are set; address and key are another worker's of the same job,
        // in full.
        unsafe {
            let params = EpParams {
                field_mask: EP_PARAM_REMOTE_ADDRESS | EP_PARAM_ERR_HANDLING_MODE | EP_PARAM_ERR_HANDLER,
                address: address.as_ptr().cast(),
                err_mode: ERR_HANDLING_MODE_PEER,
                err_handler_cb: Some(peer_lost),
                err_handler_arg: peer.cast(),
                ..std::mem::zeroed()
            };
            match (library.ep_create)(self.worker.worker, &params, &mut made.endpoint) {
                OK => {}
                status => return Err(of_node("ucp_ep_create", status)),
            }
            match (library.ep_rkey_unpack)(made.endpoint, key.as_ptr().cast(), &mut made.key) {
                OK => Ok(made),
                status => Err(of_node("ucp_ep_rkey_unpack", status)),
            }
        }
    }

    /// The way to a node that has not been given up; None: it is this one.
    fn way(&self, to: NodeId) -> Result<Option<&Endpoint>, Trouble> {
        match &self.endpoints[to.index()] {
            Some(Endpoint { lost: Some(why), .. }) => Err(Trouble::Lost { node: to, why: why.clone() }),
            way => Ok(way.as_ref()),
        }
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    fn inbox(&mut self) -> &mut Inbox {
        // SAFETY: outside of `worker_progress` no callback runs, and `&mut self` is the only way to here.
        unsafe { &mut *self.worker.inbox }
    }

    /// Says so at once when an operation on one's own memory is done.
    fn done(&mut self, fetched: u64) -> Ticket {
        let ticket = self.ticket();
        self.inbox().events.push_back(Event::Done { ticket, fetched });
        ticket
    }

    /// The next thing that had come when the network was looked at last.
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.inbox().events.pop_front();
        if let Some(Event::Lost { node, why }) = &event {
            if let Some(endpoint) = &mut self.endpoints[node.index()] {
                endpoint.lost = Some(why.clone());
            }
        }
        event
    }

    fn progress(&mut self) {
        let library = self.worker.library;
        // SAFETY: the worker is alive, and no reference into the inbox is.
        while unsafe { (library.worker_progress)(self.worker.worker) } != 0 && self.inbox().events.is_empty()
        {
        }
        for announced in std::mem::take(&mut self.inbox().announced) {
            self.fetch(announced);
        }
        for mut pending in std::mem::take(&mut self.pending) {
            if pending.ended(library) {
                self.inbox().events.extend(pending.event());
            } else {
                self.pending.push(pending);
            }
        }
    }

    /// Makes ready to sleep: a descriptor that becomes readable when something may have come. None:
    /// something has, or UCX cannot sleep.
    pub fn arm(&mut self) -> Option<RawFd> {
        self.progress();
        if !self.inbox().events.is_empty() {
            return None;
        }
        let library = self.worker.library;
        let mut file = -1;
        // SAFETY: the worker is alive and was made with wake-ups.
        let armed = unsafe {
            (library.worker_get_efd)(self.worker.worker, &mut file) == OK
                && (library.worker_arm)(self.worker.worker) == OK
        };
        armed.then_some(file)
    }

    /// Whether everything that was begun here has come to its end.
    pub fn is_flushed(&mut self) -> bool {
        self.progress();
        self.was_flushed()
    }

    /// Whether it had when the network was looked at last.
    pub fn was_flushed(&self) -> bool {
        self.pending.is_empty()
    }

    /// Asks for the bytes of a large message.
    fn fetch(&mut self, Announced { from, head, descriptor, length }: Announced) {
        let (start, mut bytes) = (head.len(), head);
        bytes.resize(start + length, 0);
        let mut pending = Pending::new(vec![bytes], Then::Message { from });
        let buffer = pending.buffers[0][start..].as_mut_ptr();
        // SAFETY: the descriptor is ours until this call; the buffer is kept until the request has ended.
        pending.started(unsafe {
            (self.worker.library.am_recv_data_nbx)(
                self.worker.worker,
                descriptor,
                buffer.cast(),
                length,
                &RequestParam::plain(),
            )
        });
        self.pending.push(pending);
    }
}

impl Wire for UcxWire {
    fn node(&self) -> NodeId {
        self.node
    }

    fn nodes(&self) -> usize {
        self.endpoints.len()
    }

    fn memory(&self) -> &Memory {
        &self.worker.memory
    }

    fn send(&mut self, to: NodeId, message: &[u8]) -> Result<(), Trouble> {
        self.send_parts(to, message.to_vec(), Bytes::new())
    }

    fn send_parts(&mut self, to: NodeId, mut head: Vec<u8>, data: Bytes) -> Result<(), Trouble> {
        check(to, self.nodes(), 0, 0, 0)?;
        let Some(way) = self.way(to)? else {
            let from = self.node;
            head.extend_from_slice(&data);
            self.inbox().events.push_back(Event::Message { from, bytes: head });
            return Ok(());
        };
        // UCX's own header is this node's number and, of a long message, our head: so the data need not be
        // copied behind it.
        let mut header = self.node.0.to_le_bytes().to_vec();
        let data = if data.len() < LONG || head.len() > MOST_HEAD {
            head.extend_from_slice(&data);
            Bytes::from(head)
        } else {
            header.append(&mut head);
            data
        };
        let mut pending = Pending::new(vec![header], Then::Sent(data));
        // SAFETY: header and data are kept until the request has ended.
        pending.started(unsafe {
            let (header, Then::Sent(data)) = (&pending.buffers[0], &pending.then) else {
                unreachable!("just made")
            };
            let send = self.worker.library.am_send_nbx;
            send(
                way.endpoint,
                0,
                header.as_ptr().cast(),
                header.len(),
                data.as_ptr().cast(),
                data.len(),
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
        flag: Option<(usize, u64)>,
    ) -> Result<Ticket, Trouble> {
        let size = self.worker.memory.len();
        check(to, self.nodes(), at, bytes.len(), size)?;
        if let Some((flag_at, _)) = flag {
            check_word(to, self.nodes(), flag_at, size)?;
        }
        if self.way(to)?.is_none() {
            self.worker.memory.write(at, bytes);
            if let Some((at, value)) = flag {
                self.worker.memory.store(at, value);
            }
            return Ok(self.done(0));
        }
        let ticket = self.ticket();
        let flag_bytes = flag.map_or(Vec::new(), |(_, value)| value.to_ne_bytes().to_vec());
        let mut pending =
            Pending::new(vec![bytes.to_vec(), flag_bytes], Then::Done { ticket, fetched: Box::new(0) });
        let way = self.way(to)?.expect("another node");
        let library = self.worker.library;
        let plain = RequestParam::plain();
        // SAFETY: the buffers are kept until all requests have ended; offsets have been checked against the
        // memory's size, which is the same at all nodes.
        unsafe {
            let (data, flag_data) = (pending.buffers[0].as_ptr(), pending.buffers[1].as_ptr());
            pending.started((library.put_nbx)(
                way.endpoint,
                data.cast(),
                bytes.len(),
                way.start + at as u64,
                way.key,
                &plain,
            ));
            if let Some((flag_at, _)) = flag {
                // What comes after the fence is not visible before what came before it.
                (library.worker_fence)(self.worker.worker);
                pending.started((library.put_nbx)(
                    way.endpoint,
                    flag_data.cast(),
                    8,
                    way.start + flag_at as u64,
                    way.key,
                    &plain,
                ));
            }
            // A put has ended when its buffer can be used again; a flush has when all is visible over there.
            pending.started((library.ep_flush_nbx)(way.endpoint, &plain));
        }
        self.pending.push(pending);
        Ok(ticket)
    }

    fn atomic(&mut self, to: NodeId, at: usize, what: Atomic) -> Result<Ticket, Trouble> {
        check_word(to, self.nodes(), at, self.worker.memory.len())?;
        if self.way(to)?.is_none() {
            let fetched = self.worker.memory.change(at, what);
            return Ok(self.done(fetched));
        }
        let ticket = self.ticket();
        let (code, operand, reply) = match what {
            Atomic::Add(by) => (ATOMIC_ADD, by, 0),
            Atomic::Swap(new) => (ATOMIC_SWAP, new, 0),
            // The operand is what is expected; the buffer for the old value brings the new one.
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
        let mut pending = Pending::new(vec![operand.to_ne_bytes().to_vec()], Then::Done { ticket, fetched });
        let way = self.way(to)?.expect("another node");
        // SAFETY: operand and reply are kept until the request has ended; the offset has been checked.
        pending.started(unsafe {
            let operand = pending.buffers[0].as_ptr();
            (self.worker.library.atomic_op_nbx)(
                way.endpoint,
                code,
                operand.cast(),
                1,
                way.start + at as u64,
                way.key,
                &param,
            )
        });
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
        let library = self.worker.library;
        let until = Instant::now() + longest;
        loop {
            self.progress();
            let left = until.saturating_duration_since(Instant::now());
            if !self.inbox().events.is_empty() || left.is_zero() {
                return;
            }
            let mut file = -1;
            // SAFETY: the worker is alive and was made with wake-ups.
            let armed = unsafe {
                match (library.worker_get_efd)(self.worker.worker, &mut file) {
                    OK => (library.worker_arm)(self.worker.worker),
                    status => status,
                }
            };
            match armed {
                ERR_BUSY => continue, // something came in between
                OK => {
                    // Rounded up: waiting for 0 ms would be polling.
                    let milliseconds = left.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32;
                    let mut watched = libc::pollfd { fd: file, events: libc::POLLIN, revents: 0 };
                    // SAFETY: one descriptor, alive with the worker.
                    unsafe { libc::poll(&mut watched, 1, milliseconds) };
                }
                _ => std::thread::sleep(left.min(Duration::from_millis(1))),
            }
        }
    }
}

impl Drop for UcxWire {
    fn drop(&mut self) {
        let library = self.worker.library;
        let close =
            RequestParam { op_attr_mask: OP_ATTR_FLAGS, flags: EP_CLOSE_FLAG_FORCE, ..RequestParam::plain() };
        let mut closing = Pending::new(Vec::new(), Then::Nothing);
        for endpoint in self.endpoints.iter().flatten() {
            // SAFETY: each is destroyed and closed once.
            unsafe {
                (library.rkey_destroy)(endpoint.key);
                closing.started((library.ep_close_nbx)(endpoint.endpoint, &close));
            }
        }
        let until = Instant::now() + CLOSING;
        self.pending.push(closing);
        while !self.pending.is_empty() && Instant::now() < until {
            // SAFETY: the worker is alive.
            unsafe { (library.worker_progress)(self.worker.worker) };
            self.pending.retain_mut(|pending| !pending.ended(library));
        }
        // Should UCX still have a request now, its memory is better lost than used after it is freed.
        std::mem::take(&mut self.pending).into_iter().for_each(std::mem::forget);
        let peers: Vec<*mut Peer> =
            self.endpoints.drain(..).flatten().map(|endpoint| endpoint.peer).collect();
        for peer in peers {
            // SAFETY: from `Box::into_raw`, and its endpoint is closed.
            drop(unsafe { Box::from_raw(peer) });
        }
    }
}
