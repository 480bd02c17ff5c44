//! This process's end of the channels, and all its sends and receives.

use super::envelope::{EAGER, Envelope, Fields, OFFER, Offer, Token};
use super::known::Known;
use super::matching::Pattern;
use super::request::{Early, Matched, Message, Probed};
use super::table::{Pool, Table};
use super::visibility::{Look, Stamp, Strength};
use super::waiting::Waiter;
use crate::communicator::node::{Comm, lock};
use crate::job::node::World;
use evenkeel_segment::Mapped;
use evenkeel_segment::channel::{Channels, Reader, Writer};
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Messages up to this size are copied into the channel; larger ones are read by their receiver.
const EAGER_BYTES: usize = 8 * 1024;

/// A record that found no room, in its turn.
pub(super) struct Parcel {
    pub(super) kind: u8,
    pub(super) fields: Fields,
    pub(super) data: (*const u8, usize),
    /// Complete when it is written; null: nobody waits for that.
    pub(super) send: *mut Message,
}

pub(super) struct Peer {
    pub(super) writer: Writer<Mapped>,
    pub(super) reader: Reader<Mapped>,
    pub(super) eventcount: Mapped,
    pub(super) outbox: VecDeque<Parcel>,
}

pub struct Port {
    pub(super) world: &'static World,
    pub(super) eventcount: Mapped,
    pub(super) eager_bytes: usize,
    pub(super) part_bytes: usize,
    /// By place; this process's own is never used.
    pub(super) peers: Vec<Peer>,
    pub(super) queues: Table,
    pool: Pool,
    /// Communicators where a message is held.
    pub(super) held: Vec<u64>,
    /// Sends in parts.
    pub(super) streams: Vec<*mut Message>,
    /// Records in outboxes.
    pub(super) outbound: usize,
    /// Sends that are not complete.
    pub(super) sending: usize,
    /// Others have sent synchronously to this rank, so that they waited for its answer.
    pub(super) was_asked: bool,
    /// Messages sent, and how many of them with a stamp.
    pub(super) sent: (u64, u64),
    pub(super) known: Known,
    /// Looks in vain since something happened.
    pub(super) vain: u32,
    pub(super) waiter: Option<Waiter>,
    pub(super) expected_ns: u64,
}

static PORT: AtomicPtr<UnsafeCell<Port>> = AtomicPtr::new(std::ptr::null_mut());
/// Sends and receives that are not complete.
static INCOMPLETE: AtomicUsize = AtomicUsize::new(0);
/// Those of them, and records without room, for which others may wait for this process until it looks
/// for messages again: to read the data of a large message, to send what found no room, to send parts,
/// to answer where that was wanted before. A small message needs nobody but its sender. The front end
/// looks at it at each barrier.
#[unsafe(export_name = "ek_messages_needing")]
pub static NEEDING: AtomicUsize = AtomicUsize::new(0);

/// Without an atomic addition: one thread at a time is in here.
#[inline(always)]
pub(super) fn count(counter: &AtomicUsize, more: usize) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

/// # Safety
/// One thread at a time is in this module, and no function that has called this is called from within.
#[inline(always)]
pub(super) unsafe fn port() -> Option<&'static mut Port> {
    // SAFETY: set once to a leaked box, or back to null; exclusive by the caller's promise.
    unsafe { PORT.load(Ordering::Relaxed).as_ref().map(|p| &mut *p.get()) }
}

/// Whether messages are carried here.
#[inline(always)]
pub fn is_on() -> bool {
    !PORT.load(Ordering::Relaxed).is_null()
}

/// Sends and receives of this process that are not complete.
pub fn incomplete() -> usize {
    INCOMPLETE.load(Ordering::Relaxed)
}

/// Whether this process has something to do now and then, for others to go on.
pub fn is_busy() -> bool {
    // SAFETY: a look at one field.
    incomplete() > 0 || unsafe { port() }.is_some_and(|p| p.is_outbound())
}

/// Messages that this process has sent, and how many of them went ahead of a pending barrier.
pub fn sent() -> (u64, u64) {
    // SAFETY: a look at one field.
    unsafe { port() }.map_or((0, 0), |p| p.sent)
}

/// Whether something that this process has sent is not complete.
pub fn is_sending() -> bool {
    // SAFETY: a look at one field.
    unsafe { port() }.is_some_and(|p| p.sending > 0 || p.is_outbound())
}

/// Carries messages from now on; all ranks must have agreed to it.
pub fn open(world: &'static World, channels: &Channels, strength: Strength) {
    let peer = |place: usize| Peer {
        writer: Writer::new(
            world.segment.at(channels.ring(world.my_place, place)),
            channels.ring_bytes(),
            world.message_fencing(),
        ),
        reader: Reader::new(world.segment.at(channels.ring(place, world.my_place)), channels.ring_bytes()),
        eventcount: world.eventcount(channels, place),
        outbox: VecDeque::new(),
    };
    let room = channels.largest_record() - super::envelope::LARGEST;
    let port = Port {
        world,
        eventcount: world.eventcount(channels, world.my_place),
        eager_bytes: EAGER_BYTES.min(room),
        part_bytes: room,
        peers: (0..world.ranks).map(peer).collect(),
        queues: Table::default(),
        pool: Pool::default(),
        held: Vec::new(),
        streams: Vec::new(),
        outbound: 0,
        sending: 0,
        was_asked: false,
        sent: (0, 0),
        known: Known::with(strength),
        vain: 0,
        waiter: None,
        expected_ns: 0,
    };
    PORT.store(Box::leak(Box::new(UnsafeCell::new(port))), Ordering::Release);
}

/// Carries none any more: at the end, and in a child after fork.
pub fn close() {
    PORT.store(std::ptr::null_mut(), Ordering::Release);
    INCOMPLETE.store(0, Ordering::Relaxed);
    NEEDING.store(0, Ordering::Relaxed);
}

#[cold]
pub(super) fn may_see(look: Look, stamp: Stamp) -> bool {
    // SAFETY: `Message::is_complete` is not called from within.
    unsafe { port() }.is_none_or(|p| p.known.may_see(p.world, look, Some(stamp)))
}

/// Takes in what has come, and sends on what found no room; how much that was.
#[inline]
pub fn progress() -> usize {
    // SAFETY: as `port` wants.
    unsafe { port() }.map_or(0, Port::progress)
}

/// Communicators that are gone, to be seen to at the next opportunity: a helper thread may be moving
/// messages on just now.
pub(super) static GONE: Mutex<Vec<u64>> = Mutex::new(Vec::new());
pub(super) static ANY_GONE: AtomicBool = AtomicBool::new(false);

/// The communicator is gone.
pub fn forget(comm: u64) {
    if is_on() {
        lock(&GONE).push(comm);
        ANY_GONE.store(true, Ordering::Release);
    }
}

impl Port {
    // ---- calls
    // ----------------------------------------------------------------------------------------------------

    /// Sends `bytes` from `data` to rank `dest`; null if that is complete already. `synchronous`: complete
    /// when it has been received.
    ///
    /// # Safety
    /// `data` must be valid until the send is complete.
    #[inline]
    pub(super) unsafe fn send(
        &mut self,
        comm: &Comm,
        dest: usize,
        tag: i32,
        synchronous: bool,
        stamp: Option<Stamp>,
        data: *const u8,
        bytes: usize,
    ) -> *mut Message {
        let served = comm.served.as_ref().expect("only messages of served communicators come here");
        let place = served.places[dest];
        let mut envelope = Envelope { comm: comm.id(), tag, source: comm.me as u32, stamp, token: None };
        self.sent = (self.sent.0 + 1, self.sent.1 + stamp.is_some() as u64);
        let is_eager = bytes <= self.eager_bytes;
        if is_eager && !synchronous && place != self.world.my_place {
            let fields = Fields::envelope(&envelope);
            if self.try_write(place, EAGER, &fields, (data, bytes)) {
                return std::ptr::null_mut();
            }
            let send = self.start(Message { is_send: true, ..Message::new(comm, data.cast_mut(), bytes) });
            self.queue(place, Parcel { kind: EAGER, fields, data: (data, bytes), send });
            return send;
        }
        if is_eager && !synchronous {
            // SAFETY: valid by the caller's promise.
            self.arrive(place, &envelope, unsafe { slice(data, bytes) });
            return std::ptr::null_mut();
        }
        let send = self.start(Message { is_send: true, ..Message::new(comm, data.cast_mut(), bytes) });
        // SAFETY: just made.
        unsafe { (*send).place = place };
        envelope.token = Some(Token(send as u64));
        let offer = Offer { address: data as u64, bytes: bytes as u64 };
        match (place == self.world.my_place, is_eager) {
            // SAFETY: valid by the caller's promise.
            (true, true) => self.arrive(place, &envelope, unsafe { slice(data, bytes) }),
            (true, false) => self.arrive_offered(place, &envelope, offer),
            (false, true) => self.post_record(
                place,
                Parcel {
                    kind: EAGER,
                    fields: Fields::envelope(&envelope),
                    data: (data, bytes),
                    send: std::ptr::null_mut(),
                },
            ),
            (false, false) => self.post_own(place, OFFER, Fields::offer(&envelope, offer)),
        }
        send
    }

    /// Posts a receive of up to `capacity` bytes.
    ///
    /// # Safety
    /// `buffer` must be valid for writing until the receive is complete.
    pub(super) unsafe fn receive(
        &mut self,
        comm: &Comm,
        pattern: Pattern,
        posted: Option<Stamp>,
        buffer: *mut u8,
        capacity: usize,
    ) -> *mut Message {
        let world = self.world;
        let receive = self.start(Message { posted, ..Message::new(comm, buffer, capacity) });
        let queue = self.queues.of(comm.id());
        let found = queue.post(pattern, receive, |m| self.known.is_visible(world, m.stamp));
        if found.is_none() && queue.is_held() {
            self.hold(comm.id());
        }
        if let Some((source, tag, early)) = found {
            self.deliver(receive, source as i32, tag, early);
        }
        receive
    }

    /// Receives a message that `probe` took out.
    ///
    /// # Safety
    /// As for `receive`.
    pub(super) unsafe fn receive_matched(
        &mut self,
        comm: &Comm,
        matched: Box<Matched>,
        posted: Option<Stamp>,
        buffer: *mut u8,
        capacity: usize,
    ) -> *mut Message {
        let receive = self.start(Message { posted, ..Message::new(comm, buffer, capacity) });
        self.deliver(receive, matched.source as i32, matched.tag, matched.early);
        receive
    }

    /// The first message that such a receive would get, if it may be seen; `take`: takes it out.
    pub(super) fn probe(&mut self, comm: &Comm, pattern: Pattern, take: bool) -> Option<Probed> {
        let world = self.world;
        let visible = |m: &Early| self.known.is_visible(world, m.stamp);
        let queue = self.queues.get(comm.id())?;
        if take {
            let (source, tag, early) = queue.take_probed(pattern, visible)?;
            return Some(Probed {
                source,
                tag,
                bytes: early.bytes(),
                message: Some(Box::new(Matched { source, tag, early })),
            });
        }
        let (source, tag, early) = queue.probe(pattern, visible)?;
        Some(Probed { source, tag, bytes: early.bytes(), message: None })
    }

    /// Takes back a receive that nothing has been received by; false if it is too late.
    ///
    /// # Safety
    /// `receive` must be alive.
    pub(super) unsafe fn cancel(&mut self, receive: *mut Message) -> bool {
        // SAFETY: alive by the caller's promise.
        let comm = unsafe { (*receive).comm };
        let cancelled = self.queues.get(comm).is_some_and(|q| q.cancel(receive));
        if cancelled {
            // SAFETY: as above.
            unsafe { (*receive).cancelled = true };
            self.finish(receive);
        }
        cancelled
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
                (*message).forsaken = true;
            }
        }
    }

    fn start(&mut self, mut message: Message) -> *mut Message {
        count(&INCOMPLETE, 1);
        self.sending += message.is_send as usize;
        // What comes for a small receive is small, or an error; data that are offered are read by their
        // receiver, if it can.
        let is_large = message.capacity > self.eager_bytes;
        message.needs_us = if message.is_send {
            is_large && !self.world.facts.direct_reads
        } else {
            is_large || self.was_asked
        };
        count(&NEEDING, message.needs_us as usize);
        self.pool.take(message)
    }

    pub(super) fn finish(&mut self, message: *mut Message) {
        count(&INCOMPLETE, usize::MAX);
        // SAFETY: messages live until they are complete and freed.
        unsafe {
            self.sending -= (*message).is_send as usize;
            count(&NEEDING, (*message).needs_us as usize * usize::MAX);
            (*message).done = true;
            (*message).plain = (*message).stamp.is_none();
            if (*message).forsaken {
                self.pool.give_back(message);
            }
        }
    }

    pub(super) fn hold(&mut self, comm: u64) {
        if !self.held.contains(&comm) {
            self.held.push(comm);
        }
    }

    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether something of this process's waits for room in a channel.
    pub(super) fn is_outbound(&self) -> bool {
        self.outbound > 0 || !self.streams.is_empty()
    }
}

/// # Safety
/// `data` must be valid for `bytes` of reading as long as the slice is used; null only with 0.
#[inline(always)]
pub(super) unsafe fn slice<'a>(data: *const u8, bytes: usize) -> &'a [u8] {
    // SAFETY: by the caller's promise.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, bytes) } }
}
