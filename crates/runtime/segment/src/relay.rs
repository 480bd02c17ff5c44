//! Bytes that one process passes to another in parts, because the other may not read them itself.
//!
//! The process that wants the bytes owns the relay, a block of the segment. It writes down what it wants and
//! which process has it. That one, the giver, looks at the relays of others while it offers memory to them.
//! It copies part after part into the relay's ring, and the owner takes them out.
//!
//! ```text
//! head      as of every block
//! next      the relay that its owner made before this one
//! request   number, giver, communicator, instance, address, bytes, start
//! given     bytes that have been put into the ring since the relay was made
//! taken     bytes that have been taken out of it
//! data      the ring
//! ```
//!
//! A giver may look at a request that is over, or that is just being replaced. The number tells: it is odd
//! while the rest of the request changes. Only the giver of the present request writes `given`, and a
//! request is over when all its bytes have been given and taken. So a late look does no harm. A relay stays
//! a relay until the job ends.
//!
//! May use: the words and bytes of a block. Must never: wait, or read the memory of another process.

use crate::block::{Block, BlockAllocator, Extent};
use crate::layout::{HEAD_BYTES, LINE, MAX_PROCESSES, PAGE, PROCESSES_AT, RELAYS_AT};
use crate::sync::{AtomicU64, Ordering, Words, fence};

const NEXT_AT: usize = HEAD_BYTES;
const NUMBER_AT: usize = HEAD_BYTES + LINE;
/// The words behind the number: giver, communicator, instance, address, bytes, start.
const REQUEST_WORDS: usize = 6;
const GIVEN_AT: usize = NUMBER_AT + LINE;
const TAKEN_AT: usize = GIVEN_AT + LINE;
const DATA_AT: usize = TAKEN_AT + LINE;
/// Bytes of a relay's block: the smallest blocks are as large.
const RELAY_BYTES: usize = 32 * PAGE;

/// The size of a relay's block. Its owner holds the only reference, and keeps it.
pub struct RelayExtent;

impl Extent for RelayExtent {
    fn total_bytes(&self) -> usize {
        RELAY_BYTES
    }

    fn control_bytes(&self) -> usize {
        DATA_AT
    }

    fn references(&self) -> usize {
        1
    }
}

/// What the owner of a relay wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The local rank of the process that has the bytes.
    pub giver: u64,
    /// The communicator and the instance of the call in which the giver offers them.
    pub comm: u64,
    /// The instance.
    pub seq: u64,
    /// Where they are in the giver's memory.
    pub address: u64,
    /// How many.
    pub bytes: u64,
}

/// A relay, as its owner or a giver sees it.
pub struct Relay<M> {
    memory: M,
    ring_bytes: u64,
}

/// Bytes to be copied: where they stand in the request, in the relay's block, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Offset from the first byte that is wanted.
    pub offset: usize,
    /// Offset in the relay's block.
    pub place: usize,
    /// How many bytes.
    pub bytes: usize,
}

impl<M: Words> Relay<M> {
    /// The relay in this block.
    pub fn new(memory: M) -> Relay<M> {
        Relay { memory, ring_bytes: (RELAY_BYTES - DATA_AT) as u64 }
    }

    /// A relay with a smaller ring, for tests.
    pub fn with_ring(memory: M, ring_bytes: u64) -> Relay<M> {
        Relay { memory, ring_bytes }
    }

    /// The block's memory.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    fn request_word(&self, index: usize) -> &AtomicU64 {
        self.memory.word(NUMBER_AT + 8 * (1 + index))
    }

    // ---- the owner's side ----

    /// Says what is wanted. The request before must be over.
    pub fn ask(&self, wanted: &Wanted) {
        let Wanted { giver, comm, seq, address, bytes } = *wanted;
        let start = self.memory.word(TAKEN_AT).load(Ordering::Relaxed); // only this process writes it
        let number = self.memory.word(NUMBER_AT);
        let last = number.load(Ordering::Relaxed);
        number.store(last + 1, Ordering::Relaxed);
        // Pairs with the fence in `request`: a giver that sees a new word sees that the number has changed.
        fence(Ordering::Release);
        for (index, word) in [giver, comm, seq, address, bytes, start].into_iter().enumerate() {
            self.request_word(index).store(word, Ordering::Relaxed);
        }
        // Release: pairs with the load in `request`. The giver of the last request wrote `given` before.
        number.store(last + 2, Ordering::Release);
    }

    /// Takes what has been given: `copy` copies it out of the block. Returns the number of bytes.
    pub fn take(&self, copy: impl Fn(Part)) -> usize {
        let start = self.request_word(5).load(Ordering::Relaxed);
        let mut taken = self.memory.word(TAKEN_AT).load(Ordering::Relaxed);
        // Acquire: pairs with the store in `give`.
        let available = self.memory.word(GIVEN_AT).load(Ordering::Acquire) - taken;
        let end = taken + available;
        while taken < end {
            let part = self.part(start, taken, end);
            copy(part);
            taken += part.bytes as u64;
        }
        if available > 0 {
            // Release: pairs with the load in `give`. What was taken may be overwritten.
            self.memory.word(TAKEN_AT).store(taken, Ordering::Release);
        }
        available as usize
    }

    /// Returns whether everything that the latest request wants has been taken. To be asked by the owner.
    pub fn is_over(&self) -> bool {
        let word = |index| self.request_word(index).load(Ordering::Relaxed);
        self.memory.word(TAKEN_AT).load(Ordering::Relaxed) == word(5) + word(4)
    }

    // ---- the giver's side ----

    /// The present request and the position at which it starts. None if there is none, or if it is just
    /// being replaced.
    fn request(&self) -> Option<(Wanted, u64)> {
        let number = self.memory.word(NUMBER_AT);
        let before = number.load(Ordering::Acquire); // pairs with the store in `ask`
        if before == 0 || before % 2 == 1 {
            return None;
        }
        let words: [u64; REQUEST_WORDS] =
            std::array::from_fn(|index| self.request_word(index).load(Ordering::Relaxed));
        fence(Ordering::Acquire); // pairs with the fence in `ask`
        let [giver, comm, seq, address, bytes, start] = words;
        let is_whole = number.load(Ordering::Relaxed) == before;
        is_whole.then_some((Wanted { giver, comm, seq, address, bytes }, start))
    }

    /// Gives as much as there is room for, if the request `is_mine`: `copy` copies bytes of the giver's into
    /// the block. Returns the number of bytes.
    pub fn give(&self, is_mine: impl FnOnce(&Wanted) -> bool, copy: impl Fn(&Wanted, Part)) -> usize {
        let Some((wanted, start)) = self.request().filter(|(wanted, _)| is_mine(wanted)) else { return 0 };
        // Relaxed: this process is the only one that writes it now; the request came after earlier writes.
        let given = self.memory.word(GIVEN_AT).load(Ordering::Relaxed);
        // Acquire: pairs with the store in `take`.
        let taken = self.memory.word(TAKEN_AT).load(Ordering::Acquire);
        let end = (start + wanted.bytes).min(taken + self.ring_bytes);
        let mut at = given;
        while at < end {
            let part = self.part(start, at, end);
            copy(&wanted, part);
            at += part.bytes as u64;
        }
        if at > given {
            self.memory.word(GIVEN_AT).store(at, Ordering::Release); // pairs with the load in `take`
        }
        (at - given) as usize
    }

    /// The bytes from position `at` to `end`, or to the ring's end.
    fn part(&self, start: u64, at: u64, end: u64) -> Part {
        let in_ring = at % self.ring_bytes;
        Part {
            offset: (at - start) as usize,
            place: DATA_AT + in_ring as usize,
            bytes: (end - at).min(self.ring_bytes - in_ring) as usize,
        }
    }
}

/// Offset of the ring in a relay's block.
pub const fn ring_offset() -> usize {
    DATA_AT
}

/// The relays of a node's processes, by the places of their owners.
pub struct Relays<'a, M> {
    segment: &'a M,
}

impl<'a, M: Words> Relays<'a, M> {
    /// Those in this segment.
    pub fn new(segment: &'a M) -> Self {
        Relays { segment }
    }

    fn first(&self, place: usize) -> &'a AtomicU64 {
        assert!(place < MAX_PROCESSES);
        self.segment.word(PROCESSES_AT + place * LINE + RELAYS_AT)
    }

    /// Makes a relay for the process at `place`, which calls this from one thread at a time. None if the
    /// segment has no room.
    pub fn make(&self, blocks: &BlockAllocator<'_, M>, place: usize) -> Option<Block> {
        let block = blocks.allocate(&RelayExtent)?;
        let first = self.first(place);
        let before = first.load(Ordering::Relaxed);
        self.segment.word(block.offset() + NEXT_AT).store(before, Ordering::Relaxed);
        // Release: pairs with the load in `of`.
        first.store(block.offset() as u64, Ordering::Release);
        Some(block)
    }

    /// The offsets in the segment of the relays of the process at `place`.
    #[inline]
    pub fn of(&self, place: usize) -> impl Iterator<Item = usize> + use<'a, M> {
        let segment = self.segment;
        // Acquire: pairs with the store in `make`.
        let first = self.first(place).load(Ordering::Acquire) as usize;
        std::iter::successors(Some(first), move |&at| {
            Some(segment.word(at + NEXT_AT).load(Ordering::Relaxed) as usize)
        })
        .take_while(|&at| at != 0)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Geometry, Segment};

    #[test]
    fn the_relays_of_each_process_are_found() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        blocks.initialize(&Geometry::new(2));
        let relays = Relays::new(&segment);
        assert_eq!(relays.of(3).count(), 0);
        let made: Vec<usize> =
            [3, 5, 3].iter().map(|&place| relays.make(&blocks, place).unwrap().offset()).collect();
        assert_eq!(relays.of(3).collect::<Vec<_>>(), [made[2], made[0]]);
        assert_eq!(relays.of(5).collect::<Vec<_>>(), [made[1]]);
        const { assert!(RELAY_BYTES - DATA_AT >= PAGE) };
    }
}
