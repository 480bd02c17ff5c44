//! This process's end of the message channels, and all its sends and receives.

use super::envelope::{EAGER, Envelope, Fields, LARGEST, OFFER, Offer, Token};
use super::known::KnownBarriers;
use super::large::{Copiers, LargeMessages};
use super::matching::Pattern;
use super::request::{Matched, Message, Probed, UnexpectedMessage};
use super::table::{Pool, Table};
use super::visibility::{QueryKind, Strength};
use super::waiter::Waiter;
use crate::clock::Ticks;
use crate::comm::part::NodePart;
use crate::comm::stamp::BarrierStamp;
use crate::deferral::pending::Deferral;
use crate::job::node::Node;
use crate::record::peers::Peers;
use evenkeel_segment::Mapped;
use evenkeel_segment::channel::{Channels, Reader, Writer};
use evenkeel_segment::eventcount::Fencing;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Messages up to this size are copied into the channel; larger ones are offered for reading.
const EAGER_BYTES: usize = 8 * 1024;

/// The number of messages for which another process may wait until this one polls for messages again: to
/// read the data of a large message, to send records for which there was no room, to send parts, or to
/// answer if the peer has asked for answers before. A small message needs no process but its sender. The
/// front end reads this word at each barrier, by its address.
#[unsafe(export_name = "ek_messages_needing")]
pub static NEEDING: AtomicUsize = AtomicUsize::new(0);

/// Adds to [`NEEDING`] without an atomic addition: only one thread at a time uses the port.
#[inline(always)]
pub(super) fn add_needing(more: usize) {
    NEEDING.store(NEEDING.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

/// Undoes [`add_needing`].
#[inline(always)]
pub(super) fn subtract_needing(fewer: usize) {
    NEEDING.store(NEEDING.load(Ordering::Relaxed).wrapping_sub(fewer), Ordering::Relaxed);
}

/// A record for which the channel had no room.
pub(super) struct QueuedRecord {
    pub(super) kind: u8,
    pub(super) fields: Fields,
    pub(super) data: (*const u8, usize),
    /// The send that is complete when the record is written, or null.
    pub(super) send: *mut Message,
}

/// Another process, and the channels in both directions.
pub(super) struct Peer {
    pub(super) writer: Writer<Mapped>,
    pub(super) reader: Reader<Mapped>,
    pub(super) eventcount: Mapped,
    pub(super) outbox: VecDeque<QueuedRecord>,
}

/// This process's end of the message channels. One thread at a time uses it.
pub struct Port {
    pub(super) node: &'static Node,
    /// Which process executes the fence when a sender stores a record and a receiver is about to sleep.
    pub(super) fencing: Fencing,
    /// What this process sleeps on.
    pub(super) eventcount: Mapped,
    eager_bytes: usize,
    pub(super) part_bytes: usize,
    /// By local rank; this process's own entry is never used.
    pub(super) peers: Vec<Peer>,
    pub(super) queues: Table,
    pool: Pool,
    /// Communicators with messages that a pending barrier blocks.
    pub(super) blocked: Vec<u64>,
    /// Sends that are being sent in parts.
    pub(super) streams: Vec<*mut Message>,
    /// Large messages, if both ends copy them.
    pub(super) large: Option<LargeMessages>,
    /// How many records are in outboxes.
    pub(super) outbound: usize,
    /// How many sends and receives are not complete.
    pub(super) incomplete: usize,
    /// How many sends are not complete.
    pub(super) sending: usize,
    /// Some other rank has sent synchronously to this one, and so waited for an answer.
    pub(super) was_asked: bool,
    /// What has been sent, by local rank.
    pub(super) sent_to: Box<[Sent]>,
    /// How many of these messages had a stamp.
    pub(super) sent_ahead: u64,
    /// The local rank from which the latest record came: the one that a wait that ends now was for.
    pub(super) latest_peer: usize,
    /// How long this rank has waited for each rank. All ranks are on this node where evenkeel carries
    /// messages.
    pub(super) waited_for: Peers,
    pub(super) known: KnownBarriers,
    /// Polls since the last record arrived.
    pub(super) idle_polls: u32,
    /// When the latest of them was over.
    pub(super) idle_since: Ticks,
    pub(super) waiter: Option<Waiter>,
    pub(super) expected_ns: u64,
}

/// Messages that have been sent to a rank.
#[derive(Default)]
pub(super) struct Sent {
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

impl Port {
    /// Opens the channels between the ranks of the node.
    pub(super) fn new(
        node: &'static Node,
        deferral: &'static Deferral,
        channels: &Channels,
        strength: Strength,
        copiers: Copiers,
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
            blocked: Vec::new(),
            streams: Vec::new(),
            large: LargeMessages::new(node, copiers),
            outbound: 0,
            incomplete: 0,
            sending: 0,
            was_asked: false,
            sent_to: (0..node.ranks).map(|_| Sent::default()).collect(),
            sent_ahead: 0,
            latest_peer: 0,
            waited_for: Peers::new(if node.recording { node.neighbours.len() } else { 0 }),
            known: KnownBarriers::new(node, deferral, strength),
            idle_polls: 0,
            idle_since: Ticks(0),
            waiter: None,
            expected_ns: 0,
        }
    }

    /// Sends `bytes` from `data` to rank `dest`. Returns null if the send is complete already. A
    /// `synchronous` send is complete when the message has been received.
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
        let sent = &mut self.sent_to[receiver];
        (sent.messages, sent.bytes) = (sent.messages + 1, sent.bytes + bytes as u64);
        self.sent_ahead += u64::from(stamp.is_some());
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
            // SAFETY: `data` is valid by the caller's promise.
            self.arrive(receiver, &envelope, unsafe { slice(data, bytes) });
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { self.send_with_answer(part, receiver, envelope, is_eager, data, bytes) }
    }

    /// Sends a message whose receiver must answer: a synchronous or large one.
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
            // SAFETY: `data` is valid by the caller's promise.
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
        let found = queue.post(pattern, receive, |query, m| self.known.may_see(query, m.stamp));
        if found.is_none() && queue.has_blocked() {
            self.note_blocked(part.id());
        }
        if let Some((source, tag, message)) = found {
            self.deliver(receive, source as i32, tag, message);
        }
        receive
    }

    /// Receives a message that `probe` has taken out of the queue.
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

    /// Returns the first message that a receive with this pattern would get, if the program may see it.
    /// With `take` the message is also taken out of the queue.
    pub(super) fn probe(&mut self, part: &NodePart, pattern: Pattern, take: bool) -> Option<Probed> {
        let may_see = |query, m: &UnexpectedMessage| self.known.may_see(query, m.stamp);
        let queue = self.queues.get(part.id())?;
        if take {
            let (source, tag, message) = queue.take_probed(pattern, may_see)?;
            let bytes = message.bytes();
            return Some(Probed {
                source,
                tag,
                bytes,
                message: Some(Box::new(Matched { source, tag, message })),
            });
        }
        let (source, tag, message) = queue.probe(pattern, may_see)?;
        Some(Probed { source, tag, bytes: message.bytes(), message: None })
    }

    /// Cancels a receive that has not got its message. Returns false if it is too late. A message that is
    /// hidden from it goes to the next receive that fits.
    ///
    /// # Safety
    /// `receive` must not have been freed.
    pub(super) unsafe fn cancel(&mut self, receive: *mut Message) -> bool {
        // SAFETY: not freed, by the caller's promise.
        let comm = unsafe { (*receive).comm };
        let is_cancelled = self.queues.get(comm).is_some_and(|queue| queue.cancel(receive));
        if is_cancelled {
            // SAFETY: as above.
            unsafe { (*receive).cancelled = true };
            self.finish(receive);
        }
        is_cancelled
    }

    /// Frees a send or receive that the program does not use any more: now, or when it is complete.
    ///
    /// # Safety
    /// `message` must come from `send` or `receive`, must not be null, and must not be used again.
    pub(super) unsafe fn free(&mut self, message: *mut Message) {
        // SAFETY: the caller's promise.
        unsafe {
            if (*message).done {
                self.pool.give_back(message);
            } else {
                (*message).is_freed = true;
                self.await_freed(message);
            }
        }
    }

    /// The program learns by a barrier, too, that a freed send is complete: its receiver has entered. So
    /// barriers wait until it is.
    ///
    /// # Safety
    /// `message` must be alive.
    unsafe fn await_freed(&self, message: *mut Message) {
        // SAFETY: the caller's promise.
        let m = unsafe { &mut *message };
        if m.is_send && !m.needs_this_process {
            m.needs_this_process = true;
            add_needing(1);
        }
    }

    /// Returns whether a send or receive is complete, as far as the program may see that with this kind of
    /// query.
    #[inline(always)]
    pub(super) fn is_complete(&self, message: &Message, query: QueryKind) -> bool {
        message.done && (message.stamp.is_none() || self.may_see(query, message.stamp))
    }

    #[cold]
    fn may_see(&self, query: QueryKind, stamp: Option<BarrierStamp>) -> bool {
        self.known.may_see(query, stamp)
    }

    fn start(&mut self, mut message: Message) -> *mut Message {
        self.incomplete += 1;
        self.sending += usize::from(message.is_send);
        // A small receive gets a small message, or the program is in error. Offered data is read by its
        // receiver if the kernel allows that.
        let is_large = message.capacity > self.eager_bytes;
        message.needs_this_process = if message.is_send {
            is_large && !self.node.facts.direct_reads
        } else {
            is_large || self.was_asked
        };
        add_needing(usize::from(message.needs_this_process));
        self.pool.take(message)
    }

    /// Completes a send or receive.
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

    /// Notes that a pending barrier blocks messages of a communicator.
    pub(super) fn note_blocked(&mut self, comm: u64) {
        if !self.blocked.contains(&comm) {
            self.blocked.push(comm);
        }
    }

    /// Returns whether a pending barrier blocks some message.
    pub(super) fn has_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Returns whether some record of this process waits for room in a channel.
    pub(super) fn is_outbound(&self) -> bool {
        self.outbound > 0 || !self.streams.is_empty()
    }

    /// Removes the queues of a communicator that has been freed.
    pub(super) fn forget(&mut self, comm: u64) {
        // Receives that are still posted must get their messages all the same.
        if self.queues.get(comm).is_some_and(|queue| queue.is_unposted()) {
            self.queues.remove(comm);
        }
    }
}

/// # Safety
/// `data` must be valid for reading `bytes` bytes while the slice is used. It may be null only if `bytes`
/// is 0.
#[inline(always)]
pub(super) unsafe fn slice<'a>(data: *const u8, bytes: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, bytes) } }
}
