//! Recording: from choices to bytes.

use crate::choice::{Choice, Envelope, Values};
use crate::digest::Digest;
use crate::format::{self, Ending, LibraryClock, LibrarySource, Live};
use crate::varint::{push, push_signed};

/// Where a trace goes.
pub trait Store {
    /// Appends records, or a part of one. Returns false if there is no room for them.
    fn append(&mut self, records: &[u8]) -> bool;
    /// Replaces the counters.
    fn set_live(&mut self, live: &Live);
    /// The hash of the file as it is, for [`Live::seal`]; `None`: the file cannot be read.
    fn seal(&self, live: &Live) -> Option<u64>;
}

/// Number of a receive of this rank, in the order of posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted(pub u64);

/// Records the choices of one rank.
#[derive(Debug)]
pub struct Recorder<S> {
    store: S,
    live: Live,
    interval: u64,
    posted: u64,
    /// The receive after the one that was noted last.
    next: u64,
    misses_written: u64,
    last_tag: i32,
    last_clock: u64,
    last_library_clocks: [i64; LibraryClock::COUNT],
    bytes: Vec<u8>,
}

impl<S: Store> Recorder<S> {
    /// Begins a trace in a store that has the header.
    pub fn new(store: S, interval: u32) -> Self {
        Recorder {
            store,
            live: Live::default(),
            interval: u64::from(interval.max(1)),
            posted: 0,
            next: 0,
            misses_written: 0,
            last_tag: 0,
            last_clock: 0,
            last_library_clocks: [0; LibraryClock::COUNT],
            bytes: Vec::with_capacity(64),
        }
    }

    /// Whether the trace has ended because there was no room for more.
    pub fn is_full(&self) -> bool {
        self.live.ending == Ending::NoRoom
    }

    /// Where it goes.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The calls that are over.
    pub fn calls(&self) -> u64 {
        self.live.calls
    }

    /// Notes that a receive is posted.
    pub fn post(&mut self) -> Posted {
        self.posted += 1;
        Posted(self.posted - 1)
    }

    /// Notes which message a receive from any source, or with any tag, has got.
    pub fn matched(&mut self, receive: Posted, message: Envelope) {
        let distance = self.distance(receive);
        let is_short = distance == 0 && message.tag == self.last_tag && (0..0x80).contains(&message.source);
        if is_short {
            self.bytes.push(format::SHORT_MATCH | message.source as u8);
        } else {
            self.bytes.push(format::MATCHED);
            push_signed(&mut self.bytes, distance);
            self.push_envelope(message);
        }
        self.last_tag = message.tag;
        self.write();
    }

    /// Notes that a receive was cancelled before a message came.
    pub fn cancelled(&mut self, receive: Posted) {
        self.bytes.push(format::CANCELLED);
        let distance = self.distance(receive);
        push_signed(&mut self.bytes, distance);
        self.write();
    }

    /// Notes a test or probe that found nothing.
    pub fn missed(&mut self) {
        self.live.misses += 1;
        self.publish();
    }

    /// Notes an outcome; the values are those of [`Choice::values`].
    pub fn outcome(&mut self, choice: Choice, values: &[i64]) {
        let misses = self.live.misses - self.misses_written;
        if misses > 0 {
            self.bytes.push(format::MISSES);
            push(&mut self.bytes, misses);
            self.misses_written = self.live.misses;
        }
        self.bytes.push(format::FIRST_CHOICE + choice as u8);
        for &value in values {
            match choice.values() {
                Values::Envelope => push_signed(&mut self.bytes, value),
                _ => push(&mut self.bytes, value as u64),
            }
        }
        self.write();
    }

    /// Notes what a clock has shown, in bits.
    pub fn clock(&mut self, bits: u64) {
        self.bytes.push(format::CLOCK);
        push_signed(&mut self.bytes, bits.wrapping_sub(self.last_clock) as i64);
        self.last_clock = bits;
        self.write();
    }

    /// Notes what a clock of the C library has shown.
    pub fn library_clock(&mut self, clock: LibraryClock, value: i64) {
        let last = std::mem::replace(&mut self.last_library_clocks[clock.number()], value);
        self.bytes.push(format::LIBRARY_CLOCK);
        push(&mut self.bytes, clock.number() as u64);
        push_signed(&mut self.bytes, value.wrapping_sub(last));
        self.write();
    }

    /// Notes other bytes that the C library has given. As for clocks, nothing is allocated.
    pub fn library_bytes(&mut self, source: LibrarySource, given: &[u8]) {
        self.bytes.push(format::LIBRARY_BYTES);
        push(&mut self.bytes, source.number() as u64);
        push(&mut self.bytes, given.len() as u64);
        self.write_with(given);
    }

    /// Notes that what was drawn until now came before `MPI_Init`.
    pub fn init(&mut self) {
        self.bytes.push(format::INIT);
        self.write();
    }

    /// Notes that equality is not promised from this call on.
    pub fn unpromised(&mut self, name: &str) {
        self.bytes.push(format::UNPROMISED);
        push(&mut self.bytes, self.live.calls);
        push(&mut self.bytes, name.len() as u64);
        self.bytes.extend_from_slice(name.as_bytes());
        self.write();
    }

    /// Takes in what is sent.
    pub fn sent(&mut self, peer: i32, tag: i32, bytes: u64, data: &[u8]) {
        self.live.sent.add(peer, tag, bytes, data);
    }

    /// Takes in what was received.
    pub fn received(&mut self, peer: i32, tag: i32, bytes: u64, data: &[u8]) {
        self.live.received.add(peer, tag, bytes, data);
    }

    /// Notes that a call is over.
    pub fn call_over(&mut self) {
        self.live.calls += 1;
        if self.live.calls % self.interval == 0 {
            self.bytes.push(format::CHECK);
            for digest in [self.live.sent, self.live.received] {
                self.bytes.extend_from_slice(&Digest::short(digest).to_le_bytes());
            }
            self.write();
        } else {
            self.publish();
        }
    }

    /// Ends the trace in `MPI_Finalize`, and returns the store.
    pub fn finish(mut self) -> S {
        if !self.is_full() {
            let ended = Live { ending: Ending::Finalized, ..self.live };
            // Without a seal it is as if the process had been killed.
            if let Some(seal) = self.store.seal(&ended) {
                self.live = Live { seal, ..ended };
            }
            self.store.set_live(&self.live);
        }
        self.store
    }

    fn distance(&mut self, receive: Posted) -> i64 {
        let distance = receive.0 as i64 - self.next as i64;
        self.next = receive.0 + 1;
        distance
    }

    fn push_envelope(&mut self, message: Envelope) {
        push_signed(&mut self.bytes, i64::from(message.source));
        push_signed(&mut self.bytes, i64::from(message.tag));
    }

    fn write(&mut self) {
        self.write_with(&[]);
    }

    fn write_with(&mut self, more: &[u8]) {
        if !self.is_full() {
            if self.store.append(&self.bytes) && self.store.append(more) {
                self.live.used += (self.bytes.len() + more.len()) as u64;
            } else {
                self.live.ending = Ending::NoRoom;
            }
            self.store.set_live(&self.live);
        }
        self.bytes.clear();
    }

    fn publish(&mut self) {
        if !self.is_full() {
            self.store.set_live(&self.live);
        }
    }
}
