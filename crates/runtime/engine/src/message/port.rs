//! This process's end of the message channels, and all its sends and receives.

use super::envelope::{EAGER, Envelope, Fields, LARGEST, OFFER, Offer, Token};
use super::known::KnownBarriers;
use super::matching::Pattern;
use super::request::{Matched, Message, Probed, UnclaimedMessage};
use super::table::{Pool, Table};
use super::visibility::{Look, Strength};
use super::waiter::Waiter;
use crate::comm::part::NodePart;
use crate::comm::stamp::BarrierStamp;
use crate::deferral::pending::Deferral;
use crate::job::node::Node;
use evenkeel_segment::Mapped;
use evenkeel_segment::channel::{Channels, Reader, Writer};
use evenkeel_segment::eventcount::Fencing;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Messages up to this size are copied into the channel; larger ones are read by their receiver.
const EAGER_BYTES: usize = 8 * 1024;

/// Messages for which another process may wait for this one until it looks for messages again: to read
/// the data of a large message, to send what found no room, to send parts, to answer where an answer
/// was wanted before. A small message needs no process but its sender. The front end looks at this at
/// each barrier, by address.
#[unsafe(export_name = "ek_messages_needing")]
pub static NEEDING: AtomicUsize = AtomicUsize::new(0);

/// Changes [`NEEDING`] without an atomic addition: one thread at a time moves messages.
#[inline(always)]
pub(super) fn add_needing(more: usize) {
    NEEDING.store(NEEDING.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

/// Undoes [`add_needing`].
#[inline(always)]
pub(super) fn subtract_needing(fewer: usize) {
    NEEDING.store(NEEDING.load(Ordering::Relaxed).wrapping_sub(fewer), Ordering::Relaxed);
}

/// A record that found no room, in its turn.
pub(super) struct QueuedRecord {
    pub(super) kind: u8,
    pub(super) fields: Fields,
    pub(super) data: (*const u8, usize),
    /// The send that is complete when the record is written; null: none.
    pub(super) send: *mut Message,
}

/// Another process, and the channels to and from it.
pub(super) struct Peer {
    pub(super) writer: Writer<Mapped>,
    pub(super) reader: Reader<Mapped>,
    pub(super) eventcount: Mapped,
    pub(super) outbox: VecDeque<QueuedRecord>,
}

/// This process's end of the message channels. One thread at a time uses it.
pub struct Port {
    pub(super) node: &'static Node,
    /// How senders and sleeping receivers agree on who sees whose store first.
    pub(super) fencing: Fencing,
    /// What this process sleeps on.
    pub(super) eventcount: Mapped,
    eager_bytes: usize,
    pub(super) part_bytes: usize,
    /// By local rank; this process's own is never used.
    pub(super) peers: Vec<Peer>,
    pub(super) queues: Table,
    pool: Pool,
    /// Communicators where a message is held.
    pub(super) held: Vec<u64>,
    /// Sends in parts.
    pub(super) streams: Vec<*mut Message>,
    /// Records in outboxes.
    pub(super) outbound: usize,
    /// Sends and receives that are not complete.
    pub(super) incomplete: usize,
    /// Sends that are not complete.
    pub(super) sending: usize,
    /// Other ranks have sent synchronously to this one, so that they waited for its answer.
    pub(super) was_asked: bool,
    /// Messages sent, and how many of them with a stamp.
    pub(super) sent: (u64, u64),
    pub(super) known: KnownBarriers,
    /// Looks since something happened.
    pub(super) idle_looks: u32,
    pub(super) waiter: Option<Waiter>,
    pub(super) expected_ns: u64,
}

impl Port {
    /// Opens the channels between the ranks of the node.
    pub(super) fn new(
        node: &'static Node,
        deferral: &'static Deferral,
        channels: &Channels,
        strength: Strength,
    ) -> Port {
        let fencing = if node.ranks == 2 { node.fencing } else { Fencing::Both };
        let eventcount_of = |local_rank: usize| node.segment.at(channels.eventcount(local_rank));
        let channel = |from: usize, to: usize| node.segment.at(channels.ring(from, to));
        let peer = |other: usize| Peer {
            writer: Writer::new(channel(node.local_rank, other), channels.ring_bytes(), fencing),
            reader: Reader::new(channel(other, node.local_rank), channels.ring_bytes()),
            eventcount: eventcount_of(other),
            outbox: VecDeque::new(),
        };
        let room = channels.largest_record() - LARGEST;
        Port {
            node,
            fencing,
            eventcount: eventcount_of(node.local_rank),
            eager_bytes: EAGER_BYTES.min(room),
            part_bytes: room,
            peers: (0..node.ranks).map(peer).collect(),
            queues: Table::default(),
            pool: Pool::default(),
            held: Vec::new(),
            streams: Vec::new(),
            outbound: 0,
            incomplete: 0,
            sending: 0,
            was_asked: false,
            sent: (0, 0),
            known: KnownBarriers::new(node, deferral, strength),
            idle_looks: 0,
            waiter: None,
            expected_ns: 0,
        }
    }

    /// Sends `bytes` from `data` to rank `dest`; null if that is complete already. `synchronous`: it is
    /// complete when it has been received.
    ///
    /// # Safety
    /// `data` must be valid until the send is complete.
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "the arguments of MPI_Send, and a stamp")]
    pub(super) unsafe fn send(
        &mut self,
        part: &NodePart,
        dest: usize,
        tag: i32,
        synchronous: bool,
        stamp: Option<BarrierStamp>,
        data: *const u8,
        bytes: usize,
    ) -> *mut Message {
        let receiver = part.shared.local_ranks[dest];
        let envelope = Envelope { comm: part.id(), tag, source: part.me as u32, stamp, token: None };
        self.sent = (self.sent.0 + 1, self.sent.1 + u64::from(stamp.is_some()));
        let is_eager = bytes <= self.eager_bytes;
        if is_eager && !synchronous && receiver != self.node.local_rank {
            let fields = Fields::envelope(&envelope);
            if self.try_write(receiver, EAGER, &fields, (data, bytes)) {
                return std::ptr::null_mut();
            }
            let send = self.start(Message { is_send: true, ..Message::new(part, data.cast_mut(), bytes) });
            self.queue(receiver, QueuedRecord { kind: EAGER, fields, data: (data, bytes), send });
            return send;
        }
        if is_eager && !synchronous {
            // SAFETY: valid by the caller's promise.
            self.arrive(receiver, &envelope, unsafe { slice(data, bytes) });
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { self.send_with_answer(part, receiver, envelope, is_eager, data, bytes) }
    }

    /// Sends a message whose receiver answers when it has been received: a synchronous or large one.
    ///
    /// # Safety
    /// As for `send`.
    unsafe fn send_with_answer(
        &mut self,
        part: &NodePart,
        receiver: usize,
        mut envelope: Envelope,
        is_eager: bool,
        data: *const u8,
        bytes: usize,
    ) -> *mut Message {
        let message = Message { is_send: true, receiver, ..Message::new(part, data.cast_mut(), bytes) };
        let send = self.start(message);
        envelope.token = Some(Token(send as u64));
        let offer = Offer { address: data as u64, bytes: bytes as u64 };
        match (receiver == self.node.local_rank, is_eager) {
            // SAFETY: valid by the caller's promise.
            (true, true) => self.arrive(receiver, &envelope, unsafe { slice(data, bytes) }),
            (true, false) => self.arrive_offered(receiver, &envelope, offer),
            (false, true) => {
                let fields = Fields::envelope(&envelope);
                let no_send = std::ptr::null_mut();
                self.write(
                    receiver,
                    QueuedRecord { kind: EAGER, fields, data: (data, bytes), send: no_send },
                );
            }
            (false, false) => self.write_fields(receiver, OFFER, Fields::offer(&envelope, offer)),
        }
        send
    }

    /// Posts a receive of up to `capacity` bytes.
    ///
    /// # Safety
    /// `buffer` must be valid for writing until the receive is complete.
    pub(super) unsafe fn receive(
        &mut self,
        part: &NodePart,
        pattern: Pattern,
        posted: Option<BarrierStamp>,
        buffer: *mut u8,
        capacity: usize,
    ) -> *mut Message {
        let receive = self.start(Message { posted, ..Message::new(part, buffer, capacity) });
        let queue = self.queues.of(part.id());
        let found = queue.post(pattern, receive, |message| self.known.is_visible(message.stamp));
        if found.is_none() && queue.is_held() {
            self.hold(part.id());
        }
        if let Some((source, tag, message)) = found {
            self.deliver(receive, source as i32, tag, message);
        }
        receive
    }

    /// Receives a message that `probe` took out.
    ///
    /// # Safety
    /// As for `receive`.
    pub(super) unsafe fn receive_matched(
        &mut self,
        part: &NodePart,
        matched: Matched,
        posted: Option<BarrierStamp>,
        buffer: *mut u8,
        capacity: usize,
    ) -> *mut Message {
        let receive = self.start(Message { posted, ..Message::new(part, buffer, capacity) });
        self.deliver(receive, matched.source as i32, matched.tag, matched.message);
        receive
    }

    /// The first message that such a receive would get, if it may be seen. `take`: takes it out.
    pub(super) fn probe(&mut self, part: &NodePart, pattern: Pattern, take: bool) -> Option<Probed> {
        let is_visible = |message: &UnclaimedMessage| self.known.is_visible(message.stamp);
        let queue = self.queues.get(part.id())?;
        if take {
            let (source, tag, message) = queue.take_probed(pattern, is_visible)?;
            let bytes = message.bytes();
            return Some(Probed {
                source,
                tag,
                bytes,
                message: Some(Box::new(Matched { source, tag, message })),
            });
        }
        let (source, tag, message) = queue.probe(pattern, is_visible)?;
        Some(Probed { source, tag, bytes: message.bytes(), message: None })
    }

    /// Takes back a receive by which nothing has been received; false if it is too late.
    ///
    /// # Safety
    /// `receive` must be alive.
    pub(super) unsafe fn cancel(&mut self, receive: *mut Message) -> bool {
        // SAFETY: alive by the caller's promise.
        let comm = unsafe { (*receive).comm };
        let is_cancelled = self.queues.get(comm).is_some_and(|queue| queue.cancel(receive));
        if is_cancelled {
            // SAFETY: as above.
            unsafe { (*receive).cancelled = true };
            self.finish(receive);
        }
        is_cancelled
    }

    /// The program has no use for it any more; it is freed now, or when it is complete.
    ///
    /// # Safety
    /// From `send` or `receive`, not null, not used again.
    pub(super) unsafe fn free(&mut self, message: *mut Message) {
        // SAFETY: by the caller's promise.
        unsafe {
            if (*message).done {
                self.pool.give_back(message);
            } else {
                (*message).is_freed = true;
            }
        }
    }

    /// Whether a send or receive is complete for a program that looks so.
    #[inline(always)]
    pub(super) fn is_complete(&self, message: &Message, look: Look) -> bool {
        message.done && (message.stamp.is_none() || self.may_see(look, message.stamp))
    }

    #[cold]
    fn may_see(&self, look: Look, stamp: Option<BarrierStamp>) -> bool {
        self.known.may_see(look, stamp)
    }

    fn start(&mut self, mut message: Message) -> *mut Message {
        self.incomplete += 1;
        self.sending += usize::from(message.is_send);
        // What comes for a small receive is small, or an error. Data that are offered are read by their
        // receiver, if it can.
        let is_large = message.capacity > self.eager_bytes;
        message.needs_this_process = if message.is_send {
            is_large && !self.node.facts.direct_reads
        } else {
            is_large || self.was_asked
        };
        add_needing(usize::from(message.needs_this_process));
        self.pool.take(message)
    }

    /// A send or receive is complete.
    pub(super) fn finish(&mut self, message: *mut Message) {
        self.incomplete -= 1;
        // SAFETY: messages live until they are complete and freed.
        unsafe {
            self.sending -= usize::from((*message).is_send);
            subtract_needing(usize::from((*message).needs_this_process));
            (*message).done = true;
            (*message).plain = (*message).stamp.is_none();
            if (*message).is_freed {
                self.pool.give_back(message);
            }
        }
    }

    pub(super) fn hold(&mut self, comm: u64) {
        if !self.held.contains(&comm) {
            self.held.push(comm);
        }
    }

    /// Whether a message is held until a barrier is complete.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether something of this process waits for room in a channel.
    pub(super) fn is_outbound(&self) -> bool {
        self.outbound > 0 || !self.streams.is_empty()
    }

    /// Forgets a communicator that is gone.
    pub(super) fn forget(&mut self, comm: u64) {
        // Receives that are still posted get what is sent to them all the same.
        if self.queues.get(comm).is_some_and(|queue| queue.is_unposted()) {
            self.queues.remove(comm);
        }
    }
}

/// # Safety
/// `data` must be valid for `bytes` of reading as long as the slice is used; null only with 0.
#[inline(always)]
pub(super) unsafe fn slice<'a>(data: *const u8, bytes: usize) -> &'a [u8] {
    // SAFETY: by the caller's promise.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, bytes) } }
}
