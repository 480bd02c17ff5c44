//! Datagrams between nodes about communicators that the rank that has read them does not have. It leaves them
//! here; the ranks that have the communicator find them.
//!
//! The datagrams stand in a ring, in which any rank may write and all ranks read, each as far as it likes. The
//! latest ones replace the oldest. So one can be gone before its rank comes for it, as a datagram can be lost
//! on the network; then the agents are asked for what it said.
//!
//! A rank may be stopped before it has written what it has claimed a position for, or in the middle, and go on
//! when the position has been used again. So each word has a tag of its position, and only replaces an older
//! one.
//!
//! May use: the words of a block. Must never: wait, or know what a datagram says.

use crate::block::Extent;
use crate::layout::{HEAD_BYTES, LINE, PAGE};
use crate::sync::{AtomicU64, Ordering, Words};
use crate::tagged_word::{is_later, replace_older, value_of};

/// The most bytes of a datagram; a multiple of four.
pub const MAX_BYTES: usize = 288;
/// How many datagrams are kept.
pub const KEPT: u64 = 512;

/// A length, and the bytes.
const WORDS: usize = 1 + MAX_BYTES / 4;
const PLACE_BYTES: usize = (WORDS * 8).next_multiple_of(LINE);
/// Offset of the word that says how many positions have been claimed.
const CLAIMED: usize = HEAD_BYTES;
const PLACES: usize = HEAD_BYTES + LINE;

/// The block of a node's unclaimed datagrams. It is never freed.
pub struct UnclaimedExtent;

impl Extent for UnclaimedExtent {
    fn total_bytes(&self) -> usize {
        (PLACES + KEPT as usize * PLACE_BYTES).next_multiple_of(PAGE)
    }

    fn control_bytes(&self) -> usize {
        self.total_bytes()
    }

    fn references(&self) -> usize {
        1
    }
}

/// What stands at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A datagram, which has been read.
    Datagram,
    /// Not all of one yet.
    NotYet,
    /// A later one.
    Gone,
}

/// The unclaimed datagrams of a node.
pub struct Unclaimed<M> {
    /// The words of the block.
    pub memory: M,
    kept: u64,
}

/// Positions far apart have the same tag; no word is that old.
fn tag(position: u64) -> u32 {
    (position as u32).wrapping_add(1)
}

impl<M: Words> Unclaimed<M> {
    /// Those in the block at `memory`.
    pub fn new(memory: M) -> Unclaimed<M> {
        Unclaimed { memory, kept: KEPT }
    }

    /// The same with fewer places, for tests.
    pub fn with(memory: M, kept: u64) -> Unclaimed<M> {
        Unclaimed { memory, kept }
    }

    fn word(&self, position: u64, word: usize) -> &AtomicU64 {
        self.memory.word(PLACES + (position % self.kept) as usize * PLACE_BYTES + word * 8)
    }

    /// How many positions have been claimed. Those before the last [`KEPT`] are gone.
    pub fn end(&self) -> u64 {
        self.memory.word(CLAIMED).load(Ordering::Relaxed) // the words of a place say by themselves what they are
    }

    /// The first position that may not be gone.
    pub fn begin(&self) -> u64 {
        self.end().saturating_sub(self.kept)
    }

    /// Leaves a datagram for other ranks.
    ///
    /// # Panics
    /// If its length is no multiple of four, or more than [`MAX_BYTES`].
    pub fn leave(&self, datagram: &[u8]) {
        self.write(self.claim(), datagram);
    }

    /// Claims a position.
    pub fn claim(&self) -> u64 {
        self.memory.word(CLAIMED).fetch_add(1, Ordering::Relaxed)
    }

    /// Writes a datagram at a claimed position.
    ///
    /// # Panics
    /// As [`Unclaimed::leave`].
    pub fn write(&self, position: u64, datagram: &[u8]) {
        assert!(datagram.len() <= MAX_BYTES && datagram.len() % 4 == 0);
        replace_older(self.word(position, 0), tag(position), datagram.len() as u32);
        for (at, four) in datagram.chunks_exact(4).enumerate() {
            let value = u32::from_le_bytes(four.try_into().expect("four bytes"));
            replace_older(self.word(position, 1 + at), tag(position), value);
        }
    }

    /// Reads what stands at a claimed position.
    pub fn read(&self, position: u64, datagram: &mut Vec<u8>) -> Place {
        datagram.clear();
        let value = |at: usize| {
            // Acquire: pairs with the exchange in `replace_older`.
            let word = self.word(position, at).load(Ordering::Acquire);
            let otherwise = if is_later(word, tag(position)) { Place::Gone } else { Place::NotYet };
            value_of(word, tag(position)).ok_or(otherwise)
        };
        let mut read = || {
            let bytes = value(0)? as usize;
            for at in 0..bytes.min(MAX_BYTES) / 4 {
                datagram.extend_from_slice(&value(1 + at)?.to_le_bytes());
            }
            Ok(Place::Datagram)
        };
        read().unwrap_or_else(|otherwise: Place| otherwise)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::block::BlockAllocator;
    use crate::{Geometry, Mapped, Segment};

    fn unclaimed(segment: &Segment) -> Unclaimed<Mapped> {
        let blocks = BlockAllocator::new(segment, segment.bytes());
        blocks.initialize(&Geometry::new(2));
        Unclaimed::new(segment.at(blocks.allocate(&UnclaimedExtent).unwrap().offset()))
    }

    #[test]
    fn all_find_what_one_has_left_until_it_is_replaced() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let (all, mut found) = (unclaimed(&segment), Vec::new());
        for number in 0..3 * KEPT {
            all.leave(&[number as u8; MAX_BYTES][..4 * (number as usize % 73)]);
        }
        assert_eq!((all.begin(), all.end()), (2 * KEPT, 3 * KEPT));
        for position in all.begin()..all.end() {
            assert_eq!(all.read(position, &mut found), Place::Datagram);
            assert_eq!(found, [position as u8; MAX_BYTES][..4 * (position as usize % 73)]);
        }
        assert_eq!(all.read(all.begin() - 1, &mut found), Place::Gone);
    }

    #[test]
    fn what_is_written_late_is_found_later_or_replaces_nothing() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let (all, mut found) = (unclaimed(&segment), Vec::new());
        let late = all.claim();
        all.leave(&[1; 8]);
        assert_eq!(all.read(late, &mut found), Place::NotYet);
        assert_eq!(all.read(late + 1, &mut found), Place::Datagram);
        all.write(late, &[2; 8]);
        assert_eq!((all.read(late, &mut found), found.as_slice()), (Place::Datagram, &[2; 8][..]));
        (0..KEPT).for_each(|_| all.leave(&[3; 8]));
        all.write(late, &[4; 16]);
        assert_eq!(all.read(late, &mut found), Place::Gone);
        assert_eq!((all.read(late + KEPT, &mut found), found.as_slice()), (Place::Datagram, &[3; 8][..]));
    }
}
