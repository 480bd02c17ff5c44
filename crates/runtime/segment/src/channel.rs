//! Records from one process of the node to another: a ring of bytes for each ordered pair, one writer
//! and one reader.
//!
//! A record starts on a cache line with its header: length and kind in one word, which is stored last
//! and never zero. The reader looks at that word alone, so a small record costs one cache line. When a
//! header is stored, zero stands where the next one will be: what is left there from the last round
//! could look like a header. The writer sees to that for some lines in advance, after it has published
//! a record, so that nobody waits for it to get hold of those lines. The reader says from time to time
//! how far it has come; until then the writer leaves what it has written alone. So memory is bounded,
//! nothing is allocated, and a process that dies between two instructions leaves at most a record
//! without a header, which nobody sees.

use crate::board::geometry::{LINE, PAGE};
use crate::eventcount::{self, Fencing, Futex};
use crate::sync::{Ordering, Words};

/// Bytes of a process's bell in front of the rings: laid out as the head of a block.
const EVENTCOUNT_BYTES: usize = 4 * LINE;
/// Where the reader says how far it has come.
const TAKEN_AT: usize = 0;
const DATA_AT: usize = LINE;
/// Kind of the filler in front of the ring's end.
const SKIP: u8 = 255;
/// Bytes of a record's header.
const HEADER: usize = 8;
/// Lines behind the last record of which the first word is zero. Less in the model, whose ring is as
/// small as can be.
const CLEARED: u64 = if cfg!(loom) { 2 } else { 4 };

/// Where the bells and rings of a node's processes lie: at the end of the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    processes: usize,
    /// Payload of a ring, without its first line.
    ring_bytes: usize,
    /// Offset in the segment.
    start: usize,
}

impl Channels {
    /// The layout for so many processes in a segment of `segment_bytes`; None where it would take more than
    /// a quarter of it, or for more processes than can be looked at one by one.
    pub fn new(processes: usize, segment_bytes: usize) -> Option<Channels> {
        let ring_bytes = match processes {
            2..=16 => 64 * 1024,
            17..=64 => 32 * 1024,
            65..=256 => 16 * 1024,
            _ => return None,
        };
        let mut channels = Channels { processes, ring_bytes, start: 0 };
        let bytes = (channels.rings_at() + processes * processes * channels.stride()).next_multiple_of(PAGE);
        channels.start =
            segment_bytes.checked_sub(bytes).filter(|_| bytes <= segment_bytes / 4)? / PAGE * PAGE;
        Some(channels)
    }

    /// The part of the segment below: what is left for blocks.
    pub fn start(&self) -> usize {
        self.start
    }

    fn rings_at(&self) -> usize {
        (self.processes * EVENTCOUNT_BYTES).next_multiple_of(PAGE)
    }

    /// Rings lie some lines more than their size apart: a reader looks at the same place of all of them,
    /// and these must not fall into one set of its cache.
    fn stride(&self) -> usize {
        DATA_AT + self.ring_bytes + 3 * LINE
    }

    /// Offset in the segment of the bell of a process.
    pub fn eventcount(&self, process: usize) -> usize {
        self.start + process * EVENTCOUNT_BYTES
    }

    /// Offset in the segment of the ring for records from one process to another.
    pub fn ring(&self, from: usize, to: usize) -> usize {
        self.start + self.rings_at() + (to * self.processes + from) * self.stride()
    }

    /// Largest payload of a record.
    pub fn largest_record(&self) -> usize {
        self.ring_bytes / 4 - HEADER
    }

    pub fn ring_bytes(&self) -> usize {
        self.ring_bytes
    }
}

/// Raw access to the bytes of a ring.
pub trait Bytes {
    /// Address of the byte at `offset`.
    fn byte(&self, offset: usize) -> *mut u8;

    /// Copies `part` to the bytes from `offset` on.
    ///
    /// # Safety
    /// They must be inside, and nobody else may look at them meanwhile.
    #[inline(always)]
    unsafe fn put(&self, offset: usize, part: &[u8]) {
        // SAFETY: by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), self.byte(offset), part.len()) };
    }
}

fn lines(payload: usize) -> u64 {
    (HEADER + payload).next_multiple_of(LINE) as u64
}

/// The writing end of a ring.
pub struct Writer<M> {
    memory: M,
    bytes: u64,
    /// Bytes written since the start, fillers included.
    position: u64,
    /// How far the reader has come, as last seen.
    taken: u64,
    fencing: Fencing,
    /// For the model, which must find what goes wrong otherwise.
    #[cfg(loom)]
    pub forgets_to_clear: bool,
}

impl<M: Words + Bytes> Writer<M> {
    /// The only writer of a ring of `bytes` (a multiple of four lines) that has never been written to.
    pub fn new(memory: M, bytes: usize, fencing: Fencing) -> Writer<M> {
        assert!(bytes % (4 * LINE) == 0);
        Writer {
            memory,
            bytes: bytes as u64,
            position: 0,
            taken: 0,
            fencing,
            #[cfg(loom)]
            forgets_to_clear: false,
        }
    }

    fn header_at(&self, position: u64) -> usize {
        DATA_AT + (position % self.bytes) as usize
    }

    /// Whether `wanted` bytes and the lines to be cleared fit behind what the reader has not taken yet.
    #[inline(always)]
    fn has_room(&mut self, wanted: u64) -> bool {
        let end = self.position + wanted + CLEARED * LINE as u64;
        if end <= self.taken + self.bytes {
            return true;
        }
        // Acquire: pairs with `Reader::advance`; what it has read may be written over now.
        self.taken = self.memory.word(TAKEN_AT).load(Ordering::Acquire);
        end <= self.taken + self.bytes
    }

    /// Zeroes the first words of the lines from `from` to `to`. Relaxed: the store of a header before them
    /// orders it; the reader looks there only after it has seen that.
    #[inline(always)]
    fn clear(&self, from: u64, to: u64) {
        #[cfg(loom)]
        if self.forgets_to_clear {
            return;
        }
        let mut at = from;
        while at < to {
            self.memory.word(self.header_at(at)).store(0, Ordering::Relaxed);
            at += LINE as u64;
        }
    }

    /// Writes a record of kind 1 to 254, made of `parts` one after another; false if there is no room for it.
    /// To be followed by [`announce`] to the reader.
    #[inline]
    pub fn write(&mut self, kind: u8, parts: &[&[u8]]) -> bool {
        debug_assert!(kind != 0 && kind != SKIP);
        let payload: usize = parts.iter().map(|p| p.len()).sum();
        debug_assert!(HEADER + payload <= self.bytes as usize / 4);
        let wanted = lines(payload);
        let rest = self.bytes - self.position % self.bytes;
        let filler = if wanted > rest { rest } else { 0 };
        if !self.has_room(filler + wanted) {
            return false;
        }
        if filler > 0 {
            self.publish(SKIP, rest - HEADER as u64, rest);
        }
        let mut at = self.header_at(self.position) + HEADER;
        for part in parts {
            // SAFETY: inside the ring by the look at `rest`, and the reader has taken what stood there.
            unsafe { self.memory.put(at, part) };
            at += part.len();
        }
        self.publish(kind, payload as u64, wanted);
        true
    }

    #[inline(always)]
    fn publish(&mut self, kind: u8, payload: u64, length: u64) {
        let next = self.position + length;
        let cleared = self.position + CLEARED * LINE as u64;
        if next >= cleared {
            self.clear(next, next + LINE as u64);
        }
        let header = self.memory.word(self.header_at(self.position));
        let value = payload << 8 | kind as u64;
        // Release: pairs with `Reader::next`, so that the payload is seen with the header.
        match self.fencing {
            // An exchange is a full fence there, and half the price of one; `announce` needs no other.
            Fencing::Both if cfg!(all(target_arch = "x86_64", not(loom))) => {
                header.swap(value, Ordering::SeqCst);
            }
            _ => header.store(value, Ordering::Release),
        }
        self.position = next;
        self.clear(cleared.max(next), next + CLEARED * LINE as u64);
    }
}

/// The reading end of a ring.
pub struct Reader<M> {
    memory: M,
    bytes: u64,
    position: u64,
    /// How far the writer knows this end to have come.
    told: u64,
}

/// A record, valid until the reader advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub kind: u8,
    pub payload: *const u8,
    pub bytes: usize,
}

impl<M: Words + Bytes> Reader<M> {
    /// The only reader of a ring of `bytes`.
    pub fn new(memory: M, bytes: usize) -> Reader<M> {
        Reader { memory, bytes: bytes as u64, position: 0, told: 0 }
    }

    /// The oldest record that has not been taken.
    #[inline(always)]
    pub fn next(&mut self) -> Option<Record> {
        loop {
            let at = DATA_AT + (self.position % self.bytes) as usize;
            let header = self.memory.word(at).load(Ordering::Acquire); // pairs with `Writer::publish`
            if header == 0 {
                return None;
            }
            let (kind, bytes) = (header as u8, (header >> 8) as usize);
            if kind != SKIP {
                return Some(Record { kind, payload: self.memory.byte(at + HEADER).cast_const(), bytes });
            }
            self.position += lines(bytes);
        }
    }

    /// Takes the record that `next` has shown; true if the writer was told, who may be waiting for room.
    #[inline(always)]
    pub fn advance(&mut self, record: Record) -> bool {
        self.position += lines(record.bytes);
        // Seldom, as it costs the writer a cache line; but before it can run out of room for the largest
        // record.
        let tell = self.position - self.told >= self.bytes / 4;
        if tell {
            // Release: pairs with `has_room`, so that the reads of the payload are over when it is written
            // over.
            self.memory.word(TAKEN_AT).store(self.position, Ordering::Release);
            self.told = self.position;
        }
        tell
    }
}

/// To be called after writing something for the owner of the bell.
#[inline(always)]
pub fn notify<M: Words + Futex>(eventcount: &M, fencing: Fencing) {
    if cfg!(all(target_arch = "x86_64", not(loom))) && fencing == Fencing::Both {
        // The exchange in `publish` was the fence.
        if eventcount::has_sleepers(eventcount) {
            eventcount::wake_sleepers(eventcount);
        }
    } else {
        eventcount::notify(eventcount, fencing);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Mapped, Segment};

    fn pair(bytes: usize) -> (Segment, Writer<Mapped>, Reader<Mapped>) {
        let segment = Segment::create(1 << 20, 1).unwrap();
        let at = || segment.at(PAGE);
        let (w, r) = (Writer::new(at(), bytes, Fencing::Both), Reader::new(at(), bytes));
        (segment, w, r)
    }

    fn content(record: Record) -> Vec<u8> {
        // SAFETY: not advanced yet.
        unsafe { std::slice::from_raw_parts(record.payload, record.bytes) }.to_vec()
    }

    #[test]
    fn records_of_all_sizes_come_in_order() {
        let (_segment, mut w, mut r) = pair(1024);
        let (mut sent, mut got) = (0u64, 0u64);
        // Payload that looks like headers: what is left of it must never be taken for one.
        let payload = |n: u64| vec![(n % 250) as u8 + 1; (n * 37 % 249) as usize];
        let mut full = 0;
        while got < 10_000 {
            while sent < 10_000 && w.write((sent % 254) as u8 + 1, &[&payload(sent)]) {
                sent += 1;
            }
            full += 1;
            for _ in 0..1 + got % 7 {
                let Some(record) = r.next() else { break };
                assert_eq!((record.kind, content(record)), ((got % 254) as u8 + 1, payload(got)));
                r.advance(record);
                got += 1;
            }
        }
        assert!(full > 100 && r.next().is_none());
    }

    #[test]
    fn an_emptied_ring_has_room_for_the_largest_record() {
        for first in (0..248).step_by(8) {
            let (_segment, mut w, mut r) = pair(1024);
            for round in 0..200 {
                assert!(w.write(1, &[&vec![9; first]]), "round {round} after {first} bytes");
                assert!(w.write(2, &[&[7; 248]]), "round {round} after {first} bytes");
                while let Some(record) = r.next() {
                    r.advance(record);
                }
            }
        }
    }

    #[test]
    fn two_threads() {
        let (_segment, mut w, mut r) = pair(512);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for n in 0..200_000u64 {
                    let bytes = [n as u8; 120];
                    while !w.write(1, &[&n.to_ne_bytes(), &bytes[..(n % 113) as usize]]) {
                        std::thread::yield_now();
                    }
                }
            });
            for n in 0..200_000u64 {
                let record = loop {
                    match r.next() {
                        Some(record) => break record,
                        None => std::thread::yield_now(),
                    }
                };
                let got = content(record);
                assert_eq!(got[..8], n.to_ne_bytes());
                assert!(got.len() == 8 + (n % 113) as usize && got[8..].iter().all(|&b| b == n as u8));
                r.advance(record);
            }
        });
    }

    #[test]
    fn rings_do_not_overlap() {
        for processes in [2, 16, 17, 64, 65] {
            let c = Channels::new(processes, 4 << 30).unwrap();
            assert!(c.eventcount(processes) <= c.ring(0, 0));
            let mut starts: Vec<usize> =
                (0..processes * processes).map(|i| c.ring(i / processes, i % processes)).collect();
            starts.sort();
            assert!(starts.windows(2).all(|w| w[1] - w[0] >= DATA_AT + c.ring_bytes()));
            assert!(starts.last().unwrap() + DATA_AT + c.ring_bytes() <= 4 << 30);
        }
        assert_eq!(Channels::new(300, 64 << 30), None);
        assert_eq!(Channels::new(64, 64 << 20), None);
    }
}
