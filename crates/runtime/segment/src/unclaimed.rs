//! Datagrams between nodes about communicators that the rank that has read them does not have. It leaves them
//! here; the ranks that have the communicator find them.
//!
//! The datagrams stand in a ring, in which any rank may write and all ranks read, each as far as it likes.
//! The latest ones replace the oldest. So one can be gone before its rank comes for it, as a datagram can be
//! lost on the network; then the agents are asked for what it said.
//!
//! A rank may be stopped before it has written what it has claimed a position for, or in the middle, and go
//! on when the position has been used again. So each word has a tag of its position, and only replaces an
//! older one.
//!
//! With each datagram stands of which [kind](crate::waiters) its communicator is. So a rank that comes late
//! knows whether something may be gone that was for it.
//!
//! May use: the words of a block. Must never: wait, or know what a datagram says.

use crate::block::Extent;
use crate::layout::{HEAD_BYTES, LINE, PAGE};
use crate::sync::{AtomicU64, Ordering, Words};
use crate::tagged_word::{is_later, replace_older, value_of};
use crate::waiters::Kind;

/// The most bytes of a datagram; a multiple of four.
pub const MAX_BYTES: usize = 288;
/// How many datagrams are kept.
pub const KEPT: u64 = 2048;

/// A length with a kind above it, and the bytes.
const WORDS: usize = 1 + MAX_BYTES / 4;
const KIND_SHIFT: u32 = 16;
const PLACE_BYTES: usize = (WORDS * 8).next_multiple_of(LINE);
/// Offset of the word that says how many positions have been claimed.
const CLAIMED: usize = HEAD_BYTES;
/// Of those that say for each kind how many positions had been claimed when one of it was left.
const LATEST: usize = HEAD_BYTES + LINE;
const PLACES: usize = LATEST + Kind::COUNT * 8;
/// After so many uses of a place all of its words are written: the tag of one that has not been written for
/// so long would be taken for a later one at some time.
const MOST_USES: u64 = 1 << 14;

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

/// Positions far apart have the same tag; no word is that old: see [`MOST_USES`].
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
        self.memory.word(CLAIMED).load(Ordering::Relaxed) // a place's words say what they are about
    }

    /// The first position that may not be gone.
    pub fn begin(&self) -> u64 {
        self.end().saturating_sub(self.kept)
    }

    fn latest(&self, kind: Kind) -> &AtomicU64 {
        self.memory.word(LATEST + kind.number() * 8)
    }

    /// Whether something of a kind may be gone that was left from a position on.
    pub fn may_be_gone(&self, kind: Kind, since: u64) -> bool {
        since < self.begin() && self.latest(kind).load(Ordering::Relaxed) > since
    }

    /// Leaves a datagram for other ranks.
    ///
    /// # Panics
    /// If its length is no multiple of four, or more than [`MAX_BYTES`].
    pub fn leave(&self, kind: Kind, datagram: &[u8]) {
        let position = self.claim();
        self.latest(kind).fetch_max(position + 1, Ordering::Relaxed);
        self.write(position, kind, datagram);
    }

    /// Claims a position.
    pub fn claim(&self) -> u64 {
        self.memory.word(CLAIMED).fetch_add(1, Ordering::Relaxed)
    }

    /// Writes a datagram at a claimed position.
    ///
    /// # Panics
    /// As [`Unclaimed::leave`].
    pub fn write(&self, position: u64, kind: Kind, datagram: &[u8]) {
        assert!(datagram.len() <= MAX_BYTES && datagram.len() % 4 == 0);
        let length = datagram.len() as u32 | (kind.number() as u32) << KIND_SHIFT;
        replace_older(self.word(position, 0), tag(position), length);
        for (at, four) in datagram.chunks_exact(4).enumerate() {
            let value = u32::from_le_bytes(four.try_into().expect("four bytes"));
            replace_older(self.word(position, 1 + at), tag(position), value);
        }
        if position / self.kept % MOST_USES == 0 {
            let rest = 1 + datagram.len() / 4..WORDS;
            rest.for_each(|at| replace_older(self.word(position, at), tag(position), 0));
        }
    }

    /// The kind of what stands at a position, if it has been written.
    pub fn kind(&self, position: u64) -> Option<Kind> {
        let word = self.word(position, 0).load(Ordering::Relaxed);
        value_of(word, tag(position)).map(|value| Kind::from_number(value >> KIND_SHIFT))
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
            let bytes = value(0)? & ((1 << KIND_SHIFT) - 1);
            for at in 0..(bytes as usize).min(MAX_BYTES) / 4 {
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
        let kind = |number: u64| Kind::from_number(number as u32 % 5);
        for number in 0..3 * KEPT {
            all.leave(kind(number), &[number as u8; MAX_BYTES][..4 * (number as usize % 73)]);
        }
        assert_eq!((all.begin(), all.end()), (2 * KEPT, 3 * KEPT));
        for position in all.begin()..all.end() {
            assert_eq!(all.read(position, &mut found), Place::Datagram);
            assert_eq!(found, [position as u8; MAX_BYTES][..4 * (position as usize % 73)]);
            assert_eq!(all.kind(position), Some(kind(position)));
        }
        assert_eq!(all.read(all.begin() - 1, &mut found), Place::Gone);
        assert!(all.may_be_gone(kind(0), all.begin() - 1) && !all.may_be_gone(kind(0), all.begin()));
        assert!(!all.may_be_gone(Kind::from_number(7), 0), "there was none of that kind");
    }

    #[test]
    fn what_is_written_late_is_found_later_or_replaces_nothing() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let (all, mut found, kind) = (unclaimed(&segment), Vec::new(), Kind::from_number(3));
        let late = all.claim();
        all.leave(kind, &[1; 8]);
        assert_eq!(all.read(late, &mut found), Place::NotYet);
        assert_eq!(all.read(late + 1, &mut found), Place::Datagram);
        all.write(late, kind, &[2; 8]);
        assert_eq!((all.read(late, &mut found), found.as_slice()), (Place::Datagram, &[2; 8][..]));
        (0..KEPT).for_each(|_| all.leave(kind, &[3; 8]));
        all.write(late, kind, &[4; 16]);
        assert_eq!(all.read(late, &mut found), Place::Gone);
        assert_eq!((all.read(late + KEPT, &mut found), found.as_slice()), (Place::Datagram, &[3; 8][..]));
    }

    #[test]
    fn words_that_short_datagrams_do_not_need_grow_no_older_than_tags_can_tell() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let (all, mut found, kind) = (unclaimed(&segment), Vec::new(), Kind::from_number(0));
        all.write(5, kind, &[1; MAX_BYTES]);
        // All uses of the place at which all of its words are written, until its first tag comes again.
        let uses = (5 + KEPT * MOST_USES..(1u64 << 32) + 5).step_by((KEPT * MOST_USES) as usize);
        uses.for_each(|position| all.write(position, kind, &[2; 4]));
        let again = (1 << 32) + 5;
        all.write(again, kind, &[3; MAX_BYTES]);
        assert_eq!(all.read(again, &mut found), Place::Datagram);
        assert_eq!(found, [3; MAX_BYTES]);
    }
}
