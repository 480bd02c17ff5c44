//! Turns calls into records.

use super::format::{
    CLOCKS, COMM, COMM_NAME, FUNCTION, LONG_CALL, MODULE, Moment, SHAPE, SHAPES, SITE, STARTED_RECEIVE,
    STARTED_SEND, THREAD, TOOK, first_byte,
};
use super::shape::{Envelope, Shape};
use crate::varint::{push, push_signed};

/// Where the records go.
pub trait Store {
    /// Room for so many bytes after the records, or more; `None`: there is no more room.
    fn room(&mut self, bytes: usize) -> Option<&mut [u8]>;

    /// The first so many bytes of the last room are records from now on; so many of them are calls.
    fn commit(&mut self, bytes: usize, calls: u64);
}

/// A file in memory.
#[derive(Debug, Default)]
pub struct Memory {
    /// The file, and room after it.
    pub bytes: Vec<u8>,
    /// Bytes of the file.
    pub used: usize,
    /// Calls that were recorded.
    pub calls: u64,
}

impl Store for Memory {
    fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        self.bytes.resize(self.used + bytes, 0);
        Some(&mut self.bytes[self.used..])
    }

    fn commit(&mut self, bytes: usize, calls: u64) {
        self.used += bytes;
        self.calls += calls;
    }
}

/// The number of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeNumber(u16);

/// A shape is found by a hash of its parts: with 64 bits, no two of 4096 are ever taken for each other.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u64,
    number: u16,
}

/// Two places for each shape, so that two shapes of a loop do not drive out each other.
const WAYS: usize = 2;
/// Twice as many places as shapes: most shapes are alone.
const PLACES: usize = 2 * SHAPES;
/// The longest record of a call, and how far its last number is written over.
const CALL_ROOM: usize = 32;
/// Numbers of calls have at most so many bits.
const CALL_BITS: u32 = 48;

/// Records the calls of a process. One thread at a time may use it.
#[derive(Debug)]
pub struct Recorder<S> {
    store: S,
    slots: Box<[Slot; PLACES]>,
    /// Shapes that have a number.
    shapes: usize,
    /// The next number that is taken from another shape.
    oldest: usize,
    /// Which slot has a number; its shape is forgotten when the number is given to another one.
    owner: Box<[u16; SHAPES]>,
    /// The exit before, of the thread that has called last.
    last: u64,
    thread: u32,
    /// The exits before, of all threads.
    lasts: Vec<u64>,
    before_init: u64,
    /// Receives that have been posted.
    posted: u64,
    /// Definitions and remarks, for one call.
    scratch: Vec<u8>,
    is_full: bool,
}

impl<S: Store> Recorder<S> {
    /// `before_init`: that moment of [`Start`](super::format::Start), ticks.
    pub fn new(store: S, before_init: u64) -> Recorder<S> {
        Recorder {
            store,
            slots: Box::new([Slot::default(); PLACES]),
            shapes: 0,
            oldest: 0,
            owner: Box::new([0; SHAPES]),
            last: before_init,
            thread: 0,
            lasts: vec![before_init],
            before_init,
            posted: 0,
            scratch: Vec::new(),
            is_full: false,
        }
    }

    /// Where the records are.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// As [`Self::store`], to end it.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Whether something could not be recorded. Nothing is recorded from then on.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The number of the shape with this hash, if it has one. The hash must not be 0.
    #[inline]
    pub fn find(&self, hash: u64) -> Option<ShapeNumber> {
        let place = hash as usize % PLACES;
        let found = [place, place ^ 1].into_iter().find(|&way| self.slots[way].hash == hash);
        found.map(|way| ShapeNumber(self.slots[way].number))
    }

    /// Gives a shape a number.
    pub fn define(&mut self, hash: u64, shape: &Shape) -> ShapeNumber {
        let first = hash as usize % PLACES;
        let way = (0..WAYS).map(|way| first ^ way).find(|&way| self.slots[way].hash == 0);
        // The bits above those of the place are as good as drawn.
        let place = way.unwrap_or(first ^ (hash / PLACES as u64 % WAYS as u64) as usize);
        let number = if self.slots[place].hash != 0 {
            self.slots[place].number
        } else if self.shapes < SHAPES {
            self.shapes += 1;
            (self.shapes - 1) as u16
        } else {
            self.oldest = (self.oldest + 1) % SHAPES;
            self.slots[usize::from(self.owner[self.oldest])] = Slot::default();
            self.oldest as u16
        };
        self.slots[place] = Slot { hash, number };
        self.owner[usize::from(number)] = place as u16;
        self.record(SHAPE, |bytes| {
            push(bytes, number.into());
            shape.push(bytes);
        });
        ShapeNumber(number)
    }

    /// A call of this thread.
    #[inline]
    pub fn call(&mut self, thread: u32, shape: ShapeNumber, entry: u64, exit: u64) {
        if thread != self.thread {
            self.change_thread(thread);
        }
        // Counters of two cores may differ by some ticks.
        let gap = entry.saturating_sub(self.last);
        let entry = self.last + gap;
        let length = exit.saturating_sub(entry);
        self.last = entry + length;
        if (gap | length) >> CALL_BITS != 0 {
            return self.long_call(shape, gap, length);
        }
        if self.is_full {
            return;
        }
        let Some(room) = self.store.room(CALL_ROOM).and_then(|room| room.first_chunk_mut()) else {
            self.is_full = true;
            return;
        };
        let bytes = put_call(room, shape, gap, length);
        self.store.commit(bytes, 1);
    }

    fn long_call(&mut self, shape: ShapeNumber, gap: u64, length: u64) {
        self.record_calls(LONG_CALL, 1, |bytes| {
            push(bytes, shape.0.into());
            push(bytes, gap);
            push(bytes, length);
        });
    }

    fn change_thread(&mut self, thread: u32) {
        let known = self.lasts.len().max(thread.max(self.thread) as usize + 1);
        self.lasts.resize(known, self.before_init);
        self.lasts[self.thread as usize] = self.last;
        self.last = self.lasts[thread as usize];
        self.thread = thread;
        self.record(THREAD, |bytes| push(bytes, thread.into()));
    }

    /// A function, the next of its kind.
    pub fn function(&mut self, name: &str) {
        self.record(FUNCTION, |bytes| push_text(bytes, name));
    }

    /// A file with code, the next of its kind; the first one has number 1.
    pub fn module(&mut self, path: &str, size: u64, changed_ns: u64) {
        self.record(MODULE, |bytes| {
            push(bytes, size);
            push(bytes, changed_ns);
            push_text(bytes, path);
        });
    }

    /// A place from which MPI is called, the next of its kind. `module` 0: not in a file.
    pub fn site(&mut self, module: u32, offset: u64) {
        self.record(SITE, |bytes| {
            push(bytes, module.into());
            push(bytes, offset);
        });
    }

    /// A communicator, the next of its kind: world ranks of its members, and of the remote ones.
    pub fn comm(&mut self, members: &[i32], remote: &[i32]) {
        self.record(COMM, |bytes| {
            push_ranks(bytes, members);
            push_ranks(bytes, remote);
        });
    }

    /// The name of a communicator.
    pub fn comm_name(&mut self, comm: u32, name: &str) {
        self.record(COMM_NAME, |bytes| {
            push(bytes, comm.into());
            push_text(bytes, name);
        });
    }

    /// What the clocks show.
    pub fn clocks(&mut self, now: Moment) {
        self.record(CLOCKS, |bytes| {
            bytes.extend_from_slice(&now.ticks.to_le_bytes());
            bytes.extend_from_slice(&now.ns.to_le_bytes());
        });
    }

    /// The next call posts a receive. Returns its number.
    pub fn post(&mut self) -> u64 {
        self.posted += 1;
        self.posted - 1
    }

    /// The next call has completed the receive with this number.
    pub fn took(&mut self, number: u64, message: &Envelope) {
        let back = self.posted - number;
        self.record(TOOK, |bytes| {
            push(bytes, back);
            message.push(bytes);
        });
    }

    /// The next call has started a persistent send, or posted a persistent receive, whose number is returned.
    pub fn started(&mut self, comm: u32, sends: bool, message: &Envelope) -> Option<u64> {
        self.record(if sends { STARTED_SEND } else { STARTED_RECEIVE }, |bytes| {
            push(bytes, comm.into());
            message.push(bytes);
        });
        (!sends).then(|| self.post())
    }

    fn record(&mut self, record: u8, write: impl FnOnce(&mut Vec<u8>)) {
        self.record_calls(record, 0, write);
    }

    fn record_calls(&mut self, record: u8, calls: u64, write: impl FnOnce(&mut Vec<u8>)) {
        if self.is_full {
            return;
        }
        self.scratch.clear();
        self.scratch.push(first_byte(record));
        write(&mut self.scratch);
        match self.store.room(self.scratch.len()) {
            Some(room) => room[..self.scratch.len()].copy_from_slice(&self.scratch),
            None => return self.is_full = true,
        }
        self.store.commit(self.scratch.len(), calls);
    }
}

pub(crate) fn push_text(bytes: &mut Vec<u8>, text: &str) {
    push(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

/// Ranks as pieces of equal distance: one piece for most communicators.
pub(crate) fn push_ranks(bytes: &mut Vec<u8>, ranks: &[i32]) {
    let mut pieces: Vec<(i32, u64, i64)> = Vec::new();
    for &rank in ranks {
        if let Some((first, count, distance)) = pieces.last_mut() {
            let apart = i64::from(rank) - i64::from(*first);
            if *count == 1 {
                *distance = apart;
            }
            if apart == *distance * *count as i64 {
                *count += 1;
                continue;
            }
        }
        pieces.push((rank, 1, 0));
    }
    push(bytes, pieces.len() as u64);
    for (first, count, distance) in pieces {
        push_signed(bytes, first.into());
        push(bytes, count);
        push_signed(bytes, distance);
    }
}

/// Writes a call without a branch: each number with all of its eight bytes, and the next one behind those
/// that count. Returns the length.
#[inline]
fn put_call(room: &mut [u8; CALL_ROOM], shape: ShapeNumber, gap: u64, length: u64) -> usize {
    let bytes = |number: u64| (71 - number.leading_zeros()) as usize / 8;
    let shape = u64::from(shape.0);
    let (of_shape, of_gap, of_length) = (bytes(shape), bytes(gap), bytes(length));
    room[0] = (of_shape | of_gap << 2 | of_length << 5) as u8;
    let mut at = 1;
    for (number, bytes) in [(shape, of_shape), (gap, of_gap), (length, of_length)] {
        room[at..at + 8].copy_from_slice(&number.to_le_bytes());
        at += bytes;
    }
    at
}
