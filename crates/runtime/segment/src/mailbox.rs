//! Letters from one process to one other, through a buffer of the segment: each is read before the next
//! is written.
//!
//! Two counters, each alone on its line, count letters and never go back. The writer may fill the
//! buffer when the letter before has been read, the reader may empty it when the letter has been
//! written; so the two never meet in it.

use crate::layout::LINE;
use crate::memory::{Mapped, Segment};
use crate::sync::{AtomicU64, Ordering, Words};

const WRITTEN_AT: usize = 0;
const READ_AT: usize = LINE;
const WRITER_AT: usize = 2 * LINE;
const READER_AT: usize = WRITER_AT + 8;
const LETTER_AT: usize = 3 * LINE;

/// Bytes that a box for letters of up to `room` bytes takes.
pub const fn bytes_for(room: usize) -> usize {
    LETTER_AT + room.next_multiple_of(LINE)
}

/// The end that writes. There is one for a box, among all processes.
pub struct Writer<'a>(Ends<'a>);

/// The end that reads. There is one for a box, among all processes.
pub struct Reader<'a>(Ends<'a>);

struct Ends<'a> {
    memory: Mapped,
    room: usize,
    /// Letters that this end has done with.
    done: u64,
    _mapped: std::marker::PhantomData<&'a Segment>,
}

impl<'a> Ends<'a> {
    /// Takes one end of the box of `room` bytes at `offset`; None if somebody has it.
    fn take(
        segment: &'a Segment,
        offset: usize,
        room: usize,
        end: usize,
        done_at: usize,
    ) -> Option<Ends<'a>> {
        assert!(offset % LINE == 0 && offset + bytes_for(room) <= segment.bytes());
        let memory = segment.at(offset);
        // Acquire: pairs with the release in `drop`, so that the counter is the former owner's last.
        memory.word(end).compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let done = memory.word(done_at).load(Ordering::Relaxed); // only the owner of this end writes it
        Some(Ends { memory, room, done, _mapped: std::marker::PhantomData })
    }

    fn give_back(&self, end: usize) {
        self.memory.word(end).store(0, Ordering::Release); // pairs with `take`
    }

    fn counter(&self, at: usize) -> &AtomicU64 {
        self.memory.word(at)
    }
}

impl<'a> Writer<'a> {
    /// The writing end of the box at `offset`, a multiple of 64; None if a process has it already.
    ///
    /// Boxes must not overlap each other or anything else in the segment.
    ///
    /// # Panics
    /// If the box does not lie within the segment.
    pub fn take(segment: &'a Segment, offset: usize, room: usize) -> Option<Writer<'a>> {
        Ends::take(segment, offset, room, WRITER_AT, WRITTEN_AT).map(Writer)
    }

    /// Writes a letter; false, and nothing written, while the one before is unread.
    ///
    /// # Panics
    /// If the letter is longer than the box has room.
    pub fn write(&mut self, letter: &[u8]) -> bool {
        assert!(letter.len() <= self.0.room);
        // Acquire: pairs with the store in `Reader::read`, so that its reading is over.
        if self.0.counter(READ_AT).load(Ordering::Acquire) < self.0.done {
            return false;
        }
        // SAFETY: within the box, which `take` has checked; this is the only writer, and the reader has done
        // with all that was written and reads on only after the store below.
        unsafe {
            std::ptr::copy_nonoverlapping(letter.as_ptr(), self.0.memory.pointer(LETTER_AT), letter.len())
        };
        self.0.done += 1;
        // pairs with the load in `Reader::read`
        self.0.counter(WRITTEN_AT).store(self.0.done, Ordering::Release);
        true
    }
}

impl<'a> Reader<'a> {
    /// The reading end; as [`Writer::take`].
    pub fn take(segment: &'a Segment, offset: usize, room: usize) -> Option<Reader<'a>> {
        Ends::take(segment, offset, room, READER_AT, READ_AT).map(Reader)
    }

    /// Reads as much of the next letter as there is room for in `into`; false while there is none.
    ///
    /// # Panics
    /// If `into` is longer than the box has room.
    pub fn read(&mut self, into: &mut [u8]) -> bool {
        assert!(into.len() <= self.0.room);
        // Acquire: pairs with the store in `Writer::write`, so that the letter is seen with the count.
        if self.0.counter(WRITTEN_AT).load(Ordering::Acquire) <= self.0.done {
            return false;
        }
        // SAFETY: within the box, which `take` has checked; the writer does not touch it before the store
        // below.
        unsafe {
            std::ptr::copy_nonoverlapping(self.0.memory.pointer(LETTER_AT), into.as_mut_ptr(), into.len())
        };
        self.0.done += 1;
        // pairs with the load in `Writer::write`
        self.0.counter(READ_AT).store(self.0.done, Ordering::Release);
        true
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.0.give_back(WRITER_AT);
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.0.give_back(READER_AT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_once_and_in_order() {
        let segment = Segment::create(1 << 16, 1).unwrap();
        let mut writer = Writer::take(&segment, 4096, 100).unwrap();
        let mut reader = Reader::take(&segment, 4096, 100).unwrap();
        let mut into = [0; 5];
        assert!(!reader.read(&mut into));
        assert!(writer.write(b"first") && !writer.write(b"other"));
        assert!(reader.read(&mut into) && &into == b"first" && !reader.read(&mut into));
        assert!(writer.write(b"again") && reader.read(&mut into) && &into == b"again");
    }

    #[test]
    fn an_end_has_one_owner_and_is_taken_over_where_it_was_left() {
        let segment = Segment::create(1 << 16, 1).unwrap();
        let mut reader = Reader::take(&segment, 4096, 8).unwrap();
        let mut writer = Writer::take(&segment, 4096, 8).unwrap();
        assert!(Writer::take(&segment, 4096, 8).is_none() && Reader::take(&segment, 4096, 8).is_none());
        assert!(writer.write(&[1; 8]));
        drop(writer);
        let mut next = Writer::take(&segment, 4096, 8).unwrap();
        assert!(!next.write(&[2; 8]), "the letter of the former writer is unread");
        let mut into = [0; 8];
        assert!(reader.read(&mut into) && into == [1; 8] && next.write(&[2; 8]));
    }
}
