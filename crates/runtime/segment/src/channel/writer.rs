//! The writing end of a ring.

use super::geometry::{Bytes, DATA_AT, FILLER, HEADER, TAKEN_AT, record_bytes};
use crate::eventcount::{self, Fencing, Futex};
use crate::layout::LINE;
use crate::sync::{Ordering, Words};

/// Lines behind the last record of which the first word is zero. There are fewer in the model, whose ring is
/// as small as can be.
const CLEARED: u64 = if cfg!(loom) { 2 } else { 4 };

/// The writing end of a ring.
pub struct Writer<M> {
    memory: M,
    ring_bytes: u64,
    /// Bytes written since the start, fillers included.
    position: u64,
    /// How far the reader has come, as last seen.
    taken: u64,
    fencing: Fencing,
    /// For the model, which must find what goes wrong then.
    #[cfg(loom)]
    pub forgets_to_clear: bool,
}

impl<M: Words + Bytes> Writer<M> {
    /// The only writer of a ring that has never been written to, with `ring_bytes` for records.
    ///
    /// # Panics
    /// If `ring_bytes` is not a multiple of four lines.
    pub fn new(memory: M, ring_bytes: usize, fencing: Fencing) -> Writer<M> {
        assert!(ring_bytes % (4 * LINE) == 0);
        Writer {
            memory,
            ring_bytes: ring_bytes as u64,
            position: 0,
            taken: 0,
            fencing,
            #[cfg(loom)]
            forgets_to_clear: false,
        }
    }

    fn header_at(&self, position: u64) -> usize {
        DATA_AT + (position % self.ring_bytes) as usize
    }

    /// Whether `wanted` bytes and the lines to be cleared fit behind what the reader has not taken yet.
    #[inline(always)]
    fn has_room(&mut self, wanted: u64) -> bool {
        let end = self.position + wanted + CLEARED * LINE as u64;
        if end <= self.taken + self.ring_bytes {
            return true;
        }
        // Acquire: pairs with the store in `Reader::advance`; what it has read may be overwritten now.
        self.taken = self.memory.word(TAKEN_AT).load(Ordering::Acquire);
        end <= self.taken + self.ring_bytes
    }

    /// Zeroes the first words of the lines from `from` to `to`. Relaxed: the store of a header before them
    /// orders it; the reader looks there only after it has seen that header.
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
    /// To be followed by [`notify`] to the reader.
    #[inline]
    pub fn write(&mut self, kind: u8, parts: &[&[u8]]) -> bool {
        debug_assert!(kind != 0 && kind != FILLER);
        let payload: usize = parts.iter().map(|p| p.len()).sum();
        debug_assert!(HEADER + payload <= self.ring_bytes as usize / 4);
        let wanted = record_bytes(payload);
        let rest = self.ring_bytes - self.position % self.ring_bytes;
        let filler = if wanted > rest { rest } else { 0 };
        if !self.has_room(filler + wanted) {
            return false;
        }
        if filler > 0 {
            self.publish(FILLER, rest - HEADER as u64, rest);
        }
        let mut at = self.header_at(self.position) + HEADER;
        for part in parts {
            // SAFETY: inside the ring, since the record does not go beyond its end (`rest`); the reader has
            // taken what stood there and looks at it again only after `publish`.
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
        // Release: pairs with the load in `Reader::next`, so that the payload is seen with the header.
        match self.fencing {
            // An exchange is a full fence there, at half the price of one; `notify` needs no other.
            Fencing::Both if cfg!(all(target_arch = "x86_64", not(loom))) => {
                header.swap(value, Ordering::SeqCst);
            }
            _ => header.store(value, Ordering::Release),
        }
        self.position = next;
        self.clear(cleared.max(next), next + CLEARED * LINE as u64);
    }
}

/// Wakes the process that owns the eventcount, if it sleeps. To be called after writing records for it.
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
    use crate::channel::{Reader, Record};
    use crate::layout::PAGE;
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
}
