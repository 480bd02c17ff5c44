//! This process's end of the channels, and all its sends and receives.

use super::envelope::{DONE, EAGER, Envelope, Fields, OFFER, Offer, PART, Record, Token, WANTED};
use super::matching::{Pattern, Queues};
use super::request::{Data, Early, Matched, Message, Probed};
use super::stamp::{Look, Progress, Stamp, may_see as rule};
use super::waiting::Waiter;
use crate::comm::{Comm, lock};
use crate::deferral;
use crate::world::World;
use evenkeel_segment::channel::{self, Channels, Reader, Writer};
use evenkeel_segment::{Mapped, peer};
use std::cell::UnsafeCell;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Messages up to this size are copied into the channel; larger ones are read by their receiver.
const EAGER_BYTES: usize = 8 * 1024;
/// Records taken from one channel before the others are looked at.
const AT_A_TIME: usize = 64;

/// Ids of communicators are distinct in their lower bits already.
#[derive(Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("ids are u64");
    }
    fn write_u64(&mut self, id: u64) {
        self.0 = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

type Queue = Queues<*mut Message, Early>;

/// A record that found no room, in its turn.
struct Parcel {
    kind: u8,
    fields: Fields,
    data: (*const u8, usize),
    /// Complete when it is written; null: nobody waits for that.
    send: *mut Message,
}

struct Peer {
    writer: Writer<Mapped>,
    reader: Reader<Mapped>,
    bell: Mapped,
    outbox: VecDeque<Parcel>,
}

pub struct Port {
    pub(super) world: &'static World,
    pub(super) bell: Mapped,
    eager_bytes: usize,
    part_bytes: usize,
    /// By place; this process's own is never used.
    peers: Vec<Peer>,
    queues: HashMap<u64, Queue, BuildHasherDefault<IdHasher>>,
    /// Communicators where a message is held.
    held: Vec<u64>,
    /// Sends in parts.
    streams: Vec<*mut Message>,
    /// Records in outboxes.
    outbound: usize,
    /// Sends that are not complete.
    sending: usize,
    /// Messages sent, and how many of them with a stamp.
    sent: (u64, u64),
    /// Looks in vain since something happened.
    pub(super) vain: u32,
    pub(super) waiter: Option<Waiter>,
    pub(super) expected_ns: u64,
}

static PORT: AtomicPtr<UnsafeCell<Port>> = AtomicPtr::new(std::ptr::null_mut());
/// Sends and receives that are not complete.
static INCOMPLETE: AtomicUsize = AtomicUsize::new(0);

/// Without an atomic addition: one thread at a time is in here.
#[inline(always)]
fn count(more: usize) {
    INCOMPLETE.store(INCOMPLETE.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
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
pub fn open(world: &'static World, channels: &Channels) {
    let peer = |place: usize| Peer {
        writer: Writer::new(world.segment.at(channels.ring(world.my_place, place)), channels.ring_bytes(), world.message_fencing()),
        reader: Reader::new(world.segment.at(channels.ring(place, world.my_place)), channels.ring_bytes()),
        bell: world.bell(channels, place),
        outbox: VecDeque::new(),
    };
    let room = channels.largest_record() - super::envelope::LARGEST;
    let port = Port {
        world,
        bell: world.bell(channels, world.my_place),
        eager_bytes: EAGER_BYTES.min(room),
        part_bytes: room,
        peers: (0..world.ranks).map(peer).collect(),
        queues: HashMap::default(),
        held: Vec::new(),
        streams: Vec::new(),
        outbound: 0,
        sending: 0,
        sent: (0, 0),
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
}

/// What is known of the barrier of a stamp.
fn progress_of(world: &World, stamp: Stamp) -> Progress {
    if world.is_complete(stamp) {
        Progress::Complete
    } else if deferral::is_pending_here(stamp) {
        Progress::Entered
    } else {
        Progress::Ahead
    }
}

#[cold]
pub(super) fn may_see(look: Look, stamp: Stamp) -> bool {
    // SAFETY: `Message::is_complete` is not called from within.
    unsafe { port() }.is_none_or(|p| rule(look, progress_of(p.world, stamp)))
}

#[inline(always)]
fn is_visible(world: &World, stamp: Option<Stamp>) -> bool {
    stamp.is_none_or(|s| rule(Look::Choose, progress_of(world, s)))
}

/// Takes in what has come, and sends on what found no room; how much that was.
#[inline]
pub fn progress() -> usize {
    // SAFETY: as `port` wants.
    unsafe { port() }.map_or(0, Port::progress)
}

/// Communicators that are gone, to be seen to at the next opportunity: a helper thread may be moving messages on just now.
static GONE: Mutex<Vec<u64>> = Mutex::new(Vec::new());
static ANY_GONE: AtomicBool = AtomicBool::new(false);

/// The communicator is gone.
pub fn forget(comm: u64) {
    if is_on() {
        lock(&GONE).push(comm);
        ANY_GONE.store(true, Ordering::Release);
    }
}

impl Port {
    // ---- calls ----------------------------------------------------------------------------------------------------

    /// Sends `bytes` from `data` to rank `dest`; null if that is complete already. `synchronous`: complete when it has been received.
    ///
    /// # Safety
    /// `data` must be valid until the send is complete.
    #[inline]
    pub(super) unsafe fn send(
        &mut self, comm: &Comm, dest: usize, tag: i32, synchronous: bool, stamp: Option<Stamp>, data: *const u8, bytes: usize,
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
            (false, true) => self.post_record(place, Parcel { kind: EAGER, fields: Fields::envelope(&envelope), data: (data, bytes), send: std::ptr::null_mut() }),
            (false, false) => self.post_own(place, OFFER, Fields::offer(&envelope, offer)),
        }
        send
    }

    /// Posts a receive of up to `capacity` bytes.
    ///
    /// # Safety
    /// `buffer` must be valid for writing until the receive is complete.
    pub(super) unsafe fn receive(
        &mut self, comm: &Comm, pattern: Pattern, posted: Option<Stamp>, buffer: *mut u8, capacity: usize,
    ) -> *mut Message {
        let world = self.world;
        let receive = self.start(Message { posted, ..Message::new(comm, buffer, capacity) });
        let queue = self.queues.entry(comm.id()).or_default();
        let found = queue.post(pattern, receive, |m| is_visible(world, m.stamp));
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
        &mut self, comm: &Comm, matched: Box<Matched>, posted: Option<Stamp>, buffer: *mut u8, capacity: usize,
    ) -> *mut Message {
        let receive = self.start(Message { posted, ..Message::new(comm, buffer, capacity) });
        self.deliver(receive, matched.source as i32, matched.tag, matched.early);
        receive
    }

    /// The first message that such a receive would get, if it may be seen; `take`: takes it out.
    pub(super) fn probe(&mut self, comm: &Comm, pattern: Pattern, take: bool) -> Option<Probed> {
        let world = self.world;
        let visible = |m: &Early| is_visible(world, m.stamp);
        let queue = self.queues.get_mut(&comm.id())?;
        if take {
            let (source, tag, early) = queue.take_probed(pattern, visible)?;
            return Some(Probed { source, tag, bytes: early.bytes(), message: Some(Box::new(Matched { source, tag, early })) });
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
        let cancelled = self.queues.get_mut(&comm).is_some_and(|q| q.cancel(receive));
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
                drop(Box::from_raw(message));
            } else {
                (*message).forsaken = true;
            }
        }
    }

    fn start(&mut self, message: Message) -> *mut Message {
        count(1);
        self.sending += message.is_send as usize;
        Box::into_raw(Box::new(message))
    }

    fn finish(&mut self, message: *mut Message) {
        count(usize::MAX);
        // SAFETY: messages live until they are complete and freed.
        unsafe {
            self.sending -= (*message).is_send as usize;
            (*message).done = true;
            if (*message).forsaken {
                drop(Box::from_raw(message));
            }
        }
    }

    fn hold(&mut self, comm: u64) {
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

    // ---- sending --------------------------------------------------------------------------------------------------

    #[inline(always)]
    fn try_write(&mut self, place: usize, kind: u8, fields: &Fields, data: (*const u8, usize)) -> bool {
        let fencing = self.world.message_fencing();
        let peer = &mut self.peers[place];
        // SAFETY: data of a send that is not complete.
        if !peer.outbox.is_empty() || !peer.writer.write(kind, &[fields.bytes(), unsafe { slice(data.0, data.1) }]) {
            return false;
        }
        channel::announce(&peer.bell, fencing);
        true
    }

    fn queue(&mut self, place: usize, parcel: Parcel) {
        self.peers[place].outbox.push_back(parcel);
        self.outbound += 1;
    }

    fn post_record(&mut self, place: usize, parcel: Parcel) {
        if !self.try_write(place, parcel.kind, &parcel.fields, parcel.data) {
            self.queue(place, parcel);
        }
    }

    fn post_own(&mut self, place: usize, kind: u8, fields: Fields) {
        self.post_record(place, Parcel { kind, fields, data: (std::ptr::null(), 0), send: std::ptr::null_mut() });
    }

    #[cold]
    fn send_on(&mut self) -> usize {
        let before = self.outbound;
        let fencing = self.world.message_fencing();
        for place in 0..self.peers.len() {
            loop {
                let Peer { writer, bell, outbox, .. } = &mut self.peers[place];
                let Some(Parcel { kind, fields, data, send }) = outbox.front() else { break };
                // SAFETY: data of a send that is not complete.
                if !writer.write(*kind, &[fields.bytes(), unsafe { slice(data.0, data.1) }]) {
                    break;
                }
                channel::announce(bell, fencing);
                let send = *send;
                outbox.pop_front();
                self.outbound -= 1;
                if !send.is_null() {
                    self.finish(send);
                }
            }
        }
        before - self.outbound
    }

    /// Sends parts of what could not be read directly.
    #[cold]
    fn stream(&mut self) -> usize {
        let mut parts = 0;
        for send in std::mem::take(&mut self.streams) {
            // SAFETY: sends in the list are not complete, so alive.
            let m = unsafe { &mut *send };
            loop {
                let bytes = self.part_bytes.min(m.capacity - m.moved);
                let fields = Fields::words(&[m.receive, m.moved as u64]);
                if !self.try_write(m.place, PART, &fields, (m.buffer.wrapping_add(m.moved).cast_const(), bytes)) {
                    self.streams.push(send);
                    break;
                }
                parts += 1;
                m.moved += bytes;
                if m.moved == m.capacity {
                    self.finish(send);
                    break;
                }
            }
        }
        parts
    }

    // ---- receiving ------------------------------------------------------------------------------------------------

    #[inline]
    pub(super) fn progress(&mut self) -> usize {
        let mut records = 0;
        for place in 0..self.peers.len() {
            for _ in 0..AT_A_TIME {
                let Some(record) = self.peers[place].reader.next() else { break };
                // SAFETY: the record stands until the reader advances.
                let payload = unsafe { slice(record.payload, record.bytes) };
                self.take_in(place, record.kind, payload);
                let peer = &mut self.peers[place];
                if peer.reader.advance(record) {
                    evenkeel_segment::bell::announce(&peer.bell, evenkeel_segment::bell::Fencing::Both);
                }
                records += 1;
            }
        }
        if records > 0 {
            self.vain = 0;
        }
        if self.outbound > 0 {
            records += self.send_on();
        }
        if !self.streams.is_empty() {
            records += self.stream();
        }
        if !self.held.is_empty() {
            records += self.settle();
        }
        if ANY_GONE.load(Ordering::Relaxed) {
            self.drop_gone();
        }
        records
    }

    #[cold]
    fn drop_gone(&mut self) {
        ANY_GONE.store(false, Ordering::Relaxed);
        for comm in lock(&GONE).drain(..) {
            // Receives that are still posted get what is sent to them all the same.
            if self.queues.get(&comm).is_some_and(|q| q.is_unposted()) {
                self.queues.remove(&comm);
            }
        }
    }

    fn take_in(&mut self, place: usize, kind: u8, payload: &[u8]) {
        let mut record = Record(payload);
        match kind {
            EAGER => {
                let envelope = record.envelope();
                self.arrive(place, &envelope, record.0);
            }
            OFFER => {
                let (envelope, offer) = (record.envelope(), record.offer());
                self.arrive_offered(place, &envelope, offer);
            }
            DONE => {
                let token = Token(record.word());
                let stamp = (!record.0.is_empty()).then(|| record.stamp());
                self.received(token, stamp);
            }
            WANTED => {
                let send = record.word() as *mut Message;
                // SAFETY: the token of a send that has not been answered, so alive.
                let m = unsafe { &mut *send };
                (m.receive, m.moved, m.capacity) = (record.word(), 0, record.word() as usize);
                m.stamp = (!record.0.is_empty()).then(|| record.stamp());
                self.streams.push(send);
            }
            _ => {
                debug_assert_eq!(kind, PART);
                let (receive, offset) = (record.word() as *mut Message, record.word() as usize);
                // SAFETY: the token of a receive that has not got all, so alive; its buffer holds what it asked for.
                unsafe {
                    std::ptr::copy_nonoverlapping(record.0.as_ptr(), (*receive).buffer.add(offset), record.0.len());
                    (*receive).moved -= record.0.len();
                    if (*receive).moved == 0 {
                        self.finish(receive);
                    }
                }
            }
        }
    }

    #[inline]
    fn pair(&mut self, envelope: &Envelope) -> Option<*mut Message> {
        let world = self.world;
        let queue = self.queues.entry(envelope.comm).or_default();
        let receive = queue.arrive(envelope.source as usize, envelope.tag, || is_visible(world, envelope.stamp));
        if receive.is_none() && queue.is_held() {
            self.hold(envelope.comm);
        }
        receive
    }

    #[inline]
    fn arrive(&mut self, place: usize, envelope: &Envelope, data: &[u8]) {
        match self.pair(envelope) {
            Some(receive) => {
                // SAFETY: posted receives are alive, and their buffers hold their capacity.
                unsafe {
                    note(receive, envelope.source as i32, envelope.tag, envelope.stamp, data.len());
                    std::ptr::copy_nonoverlapping(data.as_ptr(), (*receive).buffer, data.len().min((*receive).capacity));
                    if let Some(token) = envelope.token {
                        self.answer(place, token, (*receive).posted);
                    }
                }
                self.finish(receive);
            }
            None => self.keep(envelope, Early::new(envelope, place, Data::Here(data.into()))),
        }
    }

    fn arrive_offered(&mut self, place: usize, envelope: &Envelope, offer: Offer) {
        let early = Early::new(envelope, place, Data::There(offer));
        match self.pair(envelope) {
            Some(receive) => self.deliver(receive, envelope.source as i32, envelope.tag, early),
            None => self.keep(envelope, early),
        }
    }

    fn keep(&mut self, envelope: &Envelope, early: Early) {
        self.queues.entry(envelope.comm).or_default().keep(envelope.source as usize, envelope.tag, early);
    }

    /// Gives a message to the receive that it belongs to.
    fn deliver(&mut self, receive: *mut Message, source: i32, tag: i32, early: Early) {
        // SAFETY: receives are alive until they are complete and freed, and their buffers hold their capacity.
        let m = unsafe { &mut *receive };
        // SAFETY: as above.
        unsafe { note(receive, source, tag, early.stamp, early.bytes()) };
        let bytes = early.bytes().min(m.capacity);
        match early.data {
            Data::Here(data) => {
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), m.buffer, bytes) };
            }
            Data::There(offer) => {
                let token = early.token.expect("offers carry a token");
                if !self.fetch(early.place, offer, m.buffer, bytes) && bytes > 0 {
                    m.moved = bytes;
                    let mut words = vec![token.0, receive as u64, bytes as u64];
                    words.extend(m.posted.iter().flat_map(|s| [s.comm, s.number, s.ranks as u64]));
                    self.post_own(early.place, WANTED, Fields::words(&words));
                    return;
                }
            }
        }
        if let Some(token) = early.token {
            self.answer(early.place, token, m.posted);
        }
        self.finish(receive);
    }

    /// Copies an offered message from its sender's memory; false where the kernel does not allow that.
    fn fetch(&mut self, place: usize, offer: Offer, buffer: *mut u8, bytes: usize) -> bool {
        if place == self.world.my_place {
            // SAFETY: the send is not complete, so its data stand; the two buffers of a program do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(offer.address as *const u8, buffer, bytes) };
            return true;
        }
        let pid = self.world.neighbours[place].pid;
        // SAFETY: the receive's buffer holds so much.
        self.world.facts.direct_reads && unsafe { peer::read(pid, offer.address, buffer, bytes) }.is_ok()
    }

    fn answer(&mut self, place: usize, token: Token, posted: Option<Stamp>) {
        if place == self.world.my_place {
            self.received(token, posted);
        } else {
            self.post_own(place, DONE, Fields::done(token, posted));
        }
    }

    fn received(&mut self, token: Token, stamp: Option<Stamp>) {
        let send = token.0 as *mut Message;
        // SAFETY: the token of a send that waits for this answer, so alive; it comes back once.
        unsafe { (*send).stamp = stamp };
        self.finish(send);
    }

    /// Pairs what was held and is not any more.
    #[cold]
    fn settle(&mut self) -> usize {
        let world = self.world;
        let mut pairs = 0;
        for comm in std::mem::take(&mut self.held) {
            while let Some((receive, source, tag, early)) = self.queues.get_mut(&comm).and_then(|q| q.settle(|m| is_visible(world, m.stamp))) {
                self.deliver(receive, source as i32, tag, early);
                pairs += 1;
            }
            if self.queues.get(&comm).is_some_and(|q| q.is_held()) {
                self.hold(comm);
            }
        }
        pairs
    }
}

/// # Safety
/// `receive` must be alive.
#[inline(always)]
unsafe fn note(receive: *mut Message, source: i32, tag: i32, stamp: Option<Stamp>, bytes: usize) {
    // SAFETY: by the caller's promise.
    let m = unsafe { &mut *receive };
    (m.source, m.tag, m.stamp, m.bytes, m.truncated) = (source, tag, stamp, bytes, bytes > m.capacity);
}

/// # Safety
/// `data` must be valid for `bytes` of reading as long as the slice is used; null only with 0.
#[inline(always)]
unsafe fn slice<'a>(data: *const u8, bytes: usize) -> &'a [u8] {
    // SAFETY: by the caller's promise.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, bytes) } }
}
