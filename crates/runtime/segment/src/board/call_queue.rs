//! The docket of a communicator that spans nodes: which collectives its members have called here, for
//! the node's agent.
//!
//! Every member posts what it calls, since nobody knows who comes first, and all post the same. An
//! entry is two words that carry their round in the upper bits: a word goes up once a round, whoever
//! stores it, so one that comes late changes nothing. The agent says how many it has taken; an entry is
//! used again only when it has taken the one before.

use crate::board::Board;
use crate::board::geometry::LINE;
use crate::sync::{AtomicU64, Ordering, Words, fence};

/// Bits of a word that are the caller's; the round is above.
pub const CONTENT_BITS: u32 = 48;
const CONTENT: u64 = (1 << CONTENT_BITS) - 1;

impl<M: Words> Board<M> {
    fn entry(&self, number: u64, half: usize) -> &AtomicU64 {
        self.memory.word(self.geometry.docket_at + (number as usize % self.geometry.window) * LINE + half * 8)
    }

    fn taken_word(&self) -> &AtomicU64 {
        self.memory.word(self.geometry.docket_at + self.geometry.window * LINE)
    }

    /// Posts collective `number` (0, 1, … of this board), with words of [`CONTENT_BITS`] that are the same
    /// at all members; false if there is no room for it yet.
    pub fn post(&self, number: u64, words: [u64; 2]) -> bool {
        // Acquire: pairs with `take`.
        if number >= self.taken_word().load(Ordering::Acquire) + self.geometry.window as u64 {
            return false;
        }
        for (half, content) in words.into_iter().enumerate() {
            let (word, new) = (self.entry(number, half), self.tagged(number, content));
            let mut seen = word.load(Ordering::Relaxed);
            // Whoever finds this round, or a later one, has been forestalled.
            while self.is_before(seen, number) {
                // Release: pairs with `posted`. What the poster did before, its deposit among it, may come
                // later: that has flags of its own.
                match word.compare_exchange_weak(seen, new, Ordering::Release, Ordering::Relaxed) {
                    Ok(_) => break,
                    Err(now) => seen = now,
                }
            }
        }
        true
    }

    /// What collective `number` is, once a member has posted it. For the agent, which has taken all before
    /// it.
    pub fn posted(&self, number: u64) -> Option<[u64; 2]> {
        let half = |half| {
            Some(self.entry(number, half).load(Ordering::Acquire))
                .filter(|word| word >> CONTENT_BITS == self.round(number))
        };
        Some([half(0)? & CONTENT, half(1)? & CONTENT])
    }

    /// By the agent: all below `count` have been taken.
    pub fn take(&self, count: u64) {
        // Release: pairs with `post`, so that an entry has been read before it is written again.
        self.taken_word().store(count, Ordering::Release);
    }

    /// By the agent, after `take(count)`: whether a member may sleep until there is room on the docket.
    /// Most of the time nobody does, and to wake those who sleep for something else costs two switches.
    pub fn is_room_awaited(&self, count: u64) -> bool {
        // pairs with that of a sleeper, between its posting of the last entry and its last look for room
        fence(Ordering::SeqCst);
        // Who waits for room has posted all entries that there were.
        self.posted(count - 1 + self.geometry.window as u64 - 1).is_some()
    }

    /// The round of an entry, never that of a fresh block, but once in 65,536 rounds.
    fn round(&self, number: u64) -> u64 {
        (number / self.geometry.window as u64 + 1) & 0xffff
    }

    fn tagged(&self, number: u64, content: u64) -> u64 {
        debug_assert!(content <= CONTENT);
        self.round(number) << CONTENT_BITS | content
    }

    /// Whether a word is of the round before that of `number`. Nobody is more than one round away: an entry
    /// is used again when it has been taken, and then every word of it is up.
    fn is_before(&self, word: u64, number: u64) -> bool {
        word >> CONTENT_BITS == (self.round(number).wrapping_sub(1)) & 0xffff
    }

    /// What `post` must not do: for the model's test that this would be found.
    #[cfg(loom)]
    pub fn post_by_storing(&self, number: u64, words: [u64; 2]) {
        for (half, content) in words.into_iter().enumerate() {
            self.entry(number, half).store(self.tagged(number, content), Ordering::Release);
        }
    }
}
