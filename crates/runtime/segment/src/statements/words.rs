//! Deposits, statements and counts of a communicator's small collectives across nodes.

use super::geometry::{DATA_BYTES, StatementGeometry, WORDS};
use crate::sync::{AtomicU64, Ordering, Words};
use crate::tagged_word::{replace_older, value_of};

/// The data of a deposit or statement.
pub type Data = [u8; DATA_BYTES];

/// Offsets in a slot.
const ARRIVED: usize = 0;
const LEFT: usize = 8;
const ANSWERED: usize = 16;

/// The block of one communicator's statements, as one process of the node sees it.
pub struct Statements<M> {
    /// The words of the block.
    pub memory: M,
    /// Where things lie in it.
    pub geometry: StatementGeometry,
}

/// A tag tells collectives apart that a word can be about: no word is older than [`MOST_USES`] uses of its
/// window position.
fn tag(number: u64) -> u32 {
    (number as u32).wrapping_add(1)
}

/// How many times a window position is used until words that no rank has written meanwhile are tagged anew.
const MOST_USES: u64 = 1 << 14;

impl<M: Words> Statements<M> {
    fn word(&self, at: usize) -> &AtomicU64 {
        self.memory.word(at)
    }

    // ---- when a collective may begin, and when it is over ----

    /// Whether a rank of this node may begin a collective.
    pub fn may_begin(&self, number: u64, this_node: usize) -> bool {
        self.has_room_here(number)
            && (0..self.geometry.nodes).all(|node| node == this_node || self.has_credit(number, node))
    }

    /// Whether the ranks here have finished what the collective takes the place of.
    pub fn has_room_here(&self, number: u64) -> bool {
        number < self.finished() + self.geometry.window
    }

    /// Whether the ranks of another node are known to have finished what the collective takes the place of.
    pub fn has_credit(&self, number: u64, node: usize) -> bool {
        number < self.credit(node) + self.geometry.window
    }

    /// How many collectives all ranks here have finished.
    pub fn finished(&self) -> u64 {
        // Acquire: pairs with `leave`; what the ranks here have read may be overwritten.
        self.word(self.geometry.finished()).load(Ordering::Acquire)
    }

    /// How many collectives the ranks of a node are known to have finished.
    pub fn credit(&self, node: usize) -> u64 {
        self.word(self.geometry.credit(node)).load(Ordering::Relaxed) // a number, about another node
    }

    /// A node has told how many collectives its ranks have finished. Whether that is news.
    pub fn raise_credit(&self, node: usize, finished: u64) -> bool {
        self.word(self.geometry.credit(node)).fetch_max(finished, Ordering::Relaxed) < finished
    }

    /// Claims to tell the other nodes that the ranks here have finished so many collectives, if they have
    /// finished `interval` more than they were told last.
    pub fn claim_announcement(&self, finished: u64, interval: u64) -> bool {
        let word = self.word(self.geometry.announced());
        let seen = word.load(Ordering::Relaxed);
        finished >= seen + interval
            && word.compare_exchange(seen, finished, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The other nodes will learn from statements that the ranks here have finished so many collectives.
    pub fn note_announced(&self, finished: u64) {
        let word = self.word(self.geometry.announced());
        if word.load(Ordering::Relaxed) < finished {
            word.fetch_max(finished, Ordering::Relaxed);
        }
    }

    /// This rank has finished a collective. Returns how many all ranks here have finished if it is the last.
    pub fn leave(&self, number: u64) -> Option<u64> {
        // AcqRel: the last one comes after everything that the others have read.
        let left = self.word(self.geometry.slot(number) + LEFT).fetch_add(1, Ordering::AcqRel) + 1;
        if left % self.geometry.members as u64 != 0 {
            return None;
        }
        if number / self.geometry.window % MOST_USES == 0 {
            self.tag_all(number);
        }
        let finished = number + 1;
        // The last rank to leave a later collective may come here earlier. Release: pairs with `finished`.
        self.word(self.geometry.finished()).fetch_max(finished, Ordering::AcqRel);
        Some(finished)
    }

    /// Tags the words of a collective that all ranks here have left: a node that says nothing in a billion
    /// collectives would leave a tag that means something else by then.
    #[cold]
    fn tag_all(&self, number: u64) {
        for node in 0..self.geometry.nodes {
            let at = self.geometry.statement(number, node);
            (0..WORDS).for_each(|word| replace_older(self.word(at + word * 8), tag(number), 0));
        }
    }

    // ---- among the ranks here ----

    /// Deposits what a rank contributes.
    ///
    /// # Panics
    /// If there is more than [`DATA_BYTES`].
    pub fn deposit(&self, number: u64, member: usize, description: u32, data: &[u8]) {
        let at = self.geometry.deposit(number, member);
        // Relaxed: `arrive` publishes them.
        for (word, value) in values(description, data).enumerate() {
            self.word(at + word * 8).store(u64::from(value), Ordering::Relaxed);
        }
    }

    /// Counts a rank that has deposited. True for the last one, which may read all deposits.
    pub fn arrive(&self, number: u64) -> bool {
        // AcqRel: the last one sees the deposits of all others.
        let arrived = self.word(self.geometry.slot(number) + ARRIVED).fetch_add(1, Ordering::AcqRel) + 1;
        arrived % self.geometry.members as u64 == 0
    }

    /// What a rank has deposited: the description, and `bytes` of data.
    pub fn deposited(&self, number: u64, member: usize, bytes: usize, data: &mut Data) -> u32 {
        let at = self.geometry.deposit(number, member);
        let load = |word: usize| self.word(at + word * 8).load(Ordering::Relaxed) as u32;
        for (word, four) in data[..bytes.next_multiple_of(4)].chunks_exact_mut(4).enumerate() {
            four.copy_from_slice(&load(1 + word).to_le_bytes());
        }
        load(0)
    }

    // ---- among the nodes ----

    /// Writes a node's statement, which anyone may have written already. No tag is older than [`MOST_USES`]
    /// uses of its place, so none is taken for a later one, however late this process writes.
    ///
    /// # Panics
    /// If there is more data than [`DATA_BYTES`].
    pub fn state(&self, number: u64, node: usize, description: u32, data: &[u8]) {
        let at = self.geometry.statement(number, node);
        for (word, value) in values(description, data).enumerate() {
            replace_older(self.word(at + word * 8), tag(number), value);
        }
    }

    /// Whether all of a node's statement has come.
    pub fn is_whole(&self, number: u64, node: usize, bytes: usize) -> bool {
        self.described(number, node).is_some() && self.read(number, node, bytes, &mut [0; DATA_BYTES])
    }

    /// The description in a node's statement, if it has come; its data may still be missing.
    pub fn described(&self, number: u64, node: usize) -> Option<u32> {
        // Acquire: pairs with the exchange in `replace_older`.
        value_of(self.word(self.geometry.statement(number, node)).load(Ordering::Acquire), tag(number))
    }

    /// Reads `bytes` of data of a node's statement. False: it has not come yet.
    pub fn read(&self, number: u64, node: usize, bytes: usize, data: &mut Data) -> bool {
        let at = self.geometry.statement(number, node);
        for (word, four) in data[..bytes.next_multiple_of(4)].chunks_exact_mut(4).enumerate() {
            let word = self.word(at + (1 + word) * 8).load(Ordering::Acquire); // as in `described`
            let Some(value) = value_of(word, tag(number)) else { return false };
            four.copy_from_slice(&value.to_le_bytes());
        }
        true
    }

    /// Claims to tell the other nodes the result, which all ranks of the root's node can compute.
    pub fn claim_answer(&self, number: u64) -> bool {
        let word = self.word(self.geometry.slot(number) + ANSWERED);
        // Ranks that have the result at the same time ask; the word is of an earlier use before.
        word.load(Ordering::Relaxed) <= number && word.fetch_max(number + 1, Ordering::Relaxed) <= number
    }
}

/// The words of a statement or deposit.
fn values(description: u32, data: &[u8]) -> impl Iterator<Item = u32> + '_ {
    assert!(data.len() <= DATA_BYTES);
    let four = |chunk: &[u8]| {
        let mut bytes = [0; 4];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(bytes)
    };
    const { assert!(WORDS * 4 == DATA_BYTES + 4) };
    std::iter::once(description).chain(data.chunks(4).map(four))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::block::{BlockAllocator, WORLD};
    use crate::tagged_word::tagged;
    use crate::{Geometry, Mapped, Segment};

    fn statements(segment: &Segment, members: usize, nodes: usize) -> Statements<Mapped> {
        let blocks = BlockAllocator::new(segment, segment.bytes());
        blocks.initialize(&Geometry::new(2));
        let geometry = StatementGeometry::new(members, nodes);
        let block = blocks.statements(WORLD, &geometry).unwrap();
        assert_eq!(blocks.statements(WORLD, &geometry), Some(block));
        Statements { memory: segment.at(block.offset()), geometry }
    }

    #[test]
    fn a_statement_is_there_when_all_of_it_is() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let all = statements(&segment, 2, 3);
        let (mut data, text) = ([0; DATA_BYTES], *b"thirteen byte");
        assert_eq!(all.described(7, 1), None);
        all.state(7, 1, 5, &text[..4]);
        assert_eq!(all.described(7, 1), Some(5));
        assert!(!all.read(7, 1, 13, &mut data), "three words are missing");
        all.state(7, 1, 5, &text);
        assert!(all.read(7, 1, 13, &mut data) && data[..13] == text);
        assert_eq!((all.described(7, 2), all.described(7 + 64, 1), all.described(8, 1)), (None, None, None));
    }

    #[test]
    fn a_statement_does_not_replace_a_later_one() {
        let mut data = [0; DATA_BYTES];
        for first in [0, u64::from(u32::MAX) - 1000, 1 << 40] {
            let segment = Segment::create(64 << 20, 1).unwrap();
            let all = statements(&segment, 1, 2);
            // As if all before had been carried out.
            for number in first.saturating_sub(64)..first {
                let words = (0..2).flat_map(|node| (0..WORDS).map(move |word| (node, word * 8)));
                words.for_each(|(node, at)| {
                    let at = all.geometry.statement(number, node) + at;
                    all.memory.word(at).store(tagged(tag(number), 0), Ordering::Relaxed);
                });
            }
            for number in first..first + 2000 {
                all.state(number, 1, number as u32, &number.to_le_bytes());
                if let Some(earlier) = number.checked_sub(64) {
                    all.state(earlier, 1, 9, &[9; 8]);
                    all.state(number.saturating_sub(64 * 9), 1, 9, &[9; 8]);
                }
                assert_eq!(all.described(number, 1), Some(number as u32));
                assert!(all.read(number, 1, 8, &mut data) && data[..8] == number.to_le_bytes());
            }
        }
    }

    #[test]
    fn a_node_that_has_said_nothing_for_long_is_heard() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let all = statements(&segment, 1, 2);
        all.state(3, 1, 1, &[]);
        // All uses of the position at which tags are set anew, until the tag of collective 3 comes again.
        let uses = (3..(1u64 << 32) + 3).step_by(64 << 14);
        uses.for_each(|number| assert_eq!(all.leave(number), Some(number + 1)));
        let number = (1 << 32) + 3 - 64;
        all.state(number, 1, 2, &[]);
        assert_eq!(all.described(number, 1), Some(2));
    }

    #[test]
    fn the_last_rank_to_leave_makes_room() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let all = statements(&segment, 3, 2);
        for number in 0..200u64 {
            assert!(all.has_room_here(number + 63) && !all.has_room_here(number + 64));
            for member in 0..3 {
                all.deposit(number, member, member as u32, &[member as u8; 5]);
                assert_eq!(all.arrive(number), member == 2);
            }
            let mut data = [0; DATA_BYTES];
            assert_eq!((all.deposited(number, 1, 5, &mut data), &data[..5]), (1, &[1; 5][..]));
            assert!(all.claim_answer(number) && !all.claim_answer(number));
            assert_eq!(
                [all.leave(number), all.leave(number), all.leave(number)],
                [None, None, Some(number + 1)]
            );
        }
        assert!(!all.may_begin(200, 0), "nothing is known of the other node");
        all.raise_credit(1, 137);
        all.raise_credit(1, 5);
        assert!(all.may_begin(200, 0) && !all.may_begin(201, 0));
        assert!(all.claim_announcement(200, 32) && !all.claim_announcement(231, 32));
        all.note_announced(220);
        assert!(!all.claim_announcement(251, 32) && all.claim_announcement(252, 32));
    }
}
