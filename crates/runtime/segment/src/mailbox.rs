//! Messages from one process to one other, through a buffer of the segment that holds one message: each is
//! read before the next is written.
//!
//! Two counters, each alone on its line, count messages and never go back. The writer may fill the buffer
//! when the last message has been read; the reader may copy from it when the next one has been written.
//! So the two never access it at the same time.
//!
//! May use: the segment. Must never: wait, or write while the last message is unread.

use crate::layout::LINE;
use crate::memory::{Mapped, Segment};
use crate::sync::{AtomicU64, Ordering, Words};

const WRITTEN_AT: usize = 0;
const READ_AT: usize = LINE;
const WRITER_AT: usize = 2 * LINE;
const READER_AT: usize = WRITER_AT + 8;
const MESSAGE_AT: usize = 3 * LINE;

/// Bytes that a mailbox for messages of up to `capacity` bytes takes.
pub const fn bytes_for(capacity: usize) -> usize {
    MESSAGE_AT + capacity.next_multiple_of(LINE)
}

/// The writing end. A mailbox has one, among all processes.
pub struct Writer<'a>(End<'a>);

/// The reading end. A mailbox has one, among all processes.
pub struct Reader<'a>(End<'a>);

struct End<'a> {
    memory: Mapped,
    capacity: usize,
    /// Messages that this end has written or read.
    done: u64,
    _mapped: std::marker::PhantomData<&'a Segment>,
}

impl<'a> End<'a> {
    /// Takes one end of the mailbox at `offset`; None if a process has it.
    fn take(
        segment: &'a Segment,
        offset: usize,
        capacity: usize,
        owner_at: usize,
        done_at: usize,
    ) -> Option<End<'a>> {
        assert!(offset % LINE == 0 && offset + bytes_for(capacity) <= segment.bytes());
        let memory = segment.at(offset);
        // Acquire: pairs with the store in `give_back`, so that the counter is the former owner's last.
        memory.word(owner_at).compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let done = memory.word(done_at).load(Ordering::Relaxed); // only the owner of this end writes it
        Some(End { memory, capacity, done, _mapped: std::marker::PhantomData })
    }

    fn give_back(&self, owner_at: usize) {
        self.memory.word(owner_at).store(0, Ordering::Release); // pairs with the exchange in `take`
    }

    fn counter(&self, at: usize) -> &AtomicU64 {
        self.memory.word(at)
    }
}

impl<'a> Writer<'a> {
    /// The writing end of the mailbox at `offset`, a multiple of 64; None if a process has it already.
    ///
    /// Mailboxes must not overlap each other or anything else in the segment.
    ///
    /// # Panics
    /// If the mailbox does not lie within the segment.
    pub fn take(segment: &'a Segment, offset: usize, capacity: usize) -> Option<Writer<'a>> {
        End::take(segment, offset, capacity, WRITER_AT, WRITTEN_AT).map(Writer)
    }

    /// Writes a message; false, and nothing written, while the last one is unread.
    ///
    /// # Panics
    /// If the message is longer than the mailbox's capacity.
    pub fn write(&mut self, message: &[u8]) -> bool {
        let Writer(end) = self;
        assert!(message.len() <= end.capacity);
        // Acquire: pairs with the store in `Reader::read`, so that its reading is over.
        if end.counter(READ_AT).load(Ordering::Acquire) < end.done {
            return false;
        }
        let to = end.memory.pointer(MESSAGE_AT);
        // SAFETY: within the mailbox, which `take` has checked. This is the only writer, and the reader has
        // read everything that was written and reads on only after the store below.
        unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), to, message.len()) };
        end.done += 1;
        // Release: pairs with the load in `Reader::read`.
        end.counter(WRITTEN_AT).store(end.done, Ordering::Release);
        true
    }
}

impl<'a> Reader<'a> {
    /// The reading end; otherwise as [`Writer::take`].
    pub fn take(segment: &'a Segment, offset: usize, capacity: usize) -> Option<Reader<'a>> {
        End::take(segment, offset, capacity, READER_AT, READ_AT).map(Reader)
    }

    /// Reads the next message into `into`, as much of it as fits; false while there is none.
    ///
    /// # Panics
    /// If `into` is longer than the mailbox's capacity.
    pub fn read(&mut self, into: &mut [u8]) -> bool {
        let Reader(end) = self;
        assert!(into.len() <= end.capacity);
        // Acquire: pairs with the store in `Writer::write`, so that the message is seen with the count.
        if end.counter(WRITTEN_AT).load(Ordering::Acquire) <= end.done {
            return false;
        }
        let from = end.memory.pointer(MESSAGE_AT);
        // SAFETY: within the mailbox, which `take` has checked; the writer does not touch it before the store
        // below.
        unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        end.done += 1;
        // Release: pairs with the load in `Writer::write`.
        end.counter(READ_AT).store(end.done, Ordering::Release);
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
    fn messages_are_read_once_and_in_order() {
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
        assert!(!next.write(&[2; 8]), "the former writer's message is unread");
        let mut into = [0; 8];
        assert!(reader.read(&mut into) && into == [1; 8] && next.write(&[2; 8]));
    }
}
