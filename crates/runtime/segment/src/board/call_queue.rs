//! The call queue of a communicator that spans nodes: the collectives that its members have called on this
//! node, for the node's agent to take in order.
//!
//! Every member posts each of its calls, because no member knows which of them comes first, and all members
//! post the same words. An entry is two words that carry their round in the upper bits. A word advances once
//! a round, whichever member stores it, so a late post changes nothing. The agent publishes how many entries
//! it has taken; an entry is used again only after its last use has been taken.

use crate::board::Board;
use crate::layout::LINE;
use crate::sync::{AtomicU64, Ordering, Words, fence};

/// Bits of an entry's word that carry the caller's content; the round is above them.
pub const CONTENT_BITS: u32 = 48;
const CONTENT: u64 = (1 << CONTENT_BITS) - 1;

/// The call queue in a communicator's block.
pub struct CallQueue<'a, M> {
    board: &'a Board<M>,
}

impl<M: Words> Board<M> {
    /// The queue of collectives that members have called and the node's agent has to carry on.
    #[inline(always)]
    pub fn call_queue(&self) -> CallQueue<'_, M> {
        CallQueue { board: self }
    }
}

impl<M: Words> CallQueue<'_, M> {
    fn window(&self) -> u64 {
        self.board.geometry.window as u64
    }

    fn word(&self, number: u64, half: usize) -> &AtomicU64 {
        let entry = (number % self.window()) as usize;
        self.board.memory.word(self.board.geometry.call_queue_at + entry * LINE + half * 8)
    }

    fn taken(&self) -> &AtomicU64 {
        self.board.memory.word(self.board.geometry.call_queue_at + self.board.geometry.window * LINE)
    }

    /// Posts collective `number` (0, 1, … of this communicator), described by two words of [`CONTENT_BITS`]
    /// that are the same at all members. False, and nothing posted, while the queue is full.
    pub fn post(&self, number: u64, words: [u64; 2]) -> bool {
        // Acquire: pairs with the store in `take`.
        if number >= self.taken().load(Ordering::Acquire) + self.window() {
            return false;
        }
        for (half, content) in words.into_iter().enumerate() {
            let (word, new) = (self.word(number, half), self.tagged(number, content));
            let mut seen = word.load(Ordering::Relaxed);
            // A word of this round, or of a later one, has been posted by another member.
            while self.is_of_previous_round(seen, number) {
                // Release: pairs with the loads in `posted`. It need not publish the poster's deposit: that
                // has flags of its own.
                match word.compare_exchange_weak(seen, new, Ordering::Release, Ordering::Relaxed) {
                    Ok(_) => break,
                    Err(now) => seen = now,
                }
            }
        }
        true
    }

    /// The words of collective `number`, once a member has posted it. For the agent, which has taken all
    /// collectives before `number`.
    pub fn posted(&self, number: u64) -> Option<[u64; 2]> {
        let half = |half| {
            Some(self.word(number, half).load(Ordering::Acquire)) // pairs with `post`
                .filter(|word| word >> CONTENT_BITS == self.round(number))
        };
        Some([half(0)? & CONTENT, half(1)? & CONTENT])
    }

    /// For the agent: it has taken all collectives below `count`.
    pub fn take(&self, count: u64) {
        // Release: pairs with the load in `post`, so that an entry has been read before it is overwritten.
        self.taken().store(count, Ordering::Release);
    }

    /// For the agent, after `take(count)`: whether a member may be asleep until the queue has room. Usually
    /// none is, and waking members that sleep for something else would cost two context switches.
    pub fn is_room_awaited(&self, count: u64) -> bool {
        // Pairs with the fence of a member that goes to sleep: it executes that fence after it has posted the
        // last entry there was room for, and looks for room again afterwards.
        fence(Ordering::SeqCst);
        // A member that waits for room has posted every entry that was free.
        self.posted(count - 1 + self.window() - 1).is_some()
    }

    /// The round of an entry; it differs from a fresh block's zero except once in 65,536 rounds.
    fn round(&self, number: u64) -> u64 {
        (number / self.window() + 1) & 0xffff
    }

    fn tagged(&self, number: u64, content: u64) -> u64 {
        debug_assert!(content <= CONTENT);
        self.round(number) << CONTENT_BITS | content
    }

    /// Whether a word belongs to the round before that of `number`. No member is more than one round away:
    /// an entry is used again only after it has been taken, when both of its words are of the current round.
    fn is_of_previous_round(&self, word: u64, number: u64) -> bool {
        word >> CONTENT_BITS == (self.round(number).wrapping_sub(1)) & 0xffff
    }

    /// What `post` must not do: store without comparing. The model test shows that this would be found.
    #[cfg(loom)]
    pub fn post_by_storing(&self, number: u64, words: [u64; 2]) {
        for (half, content) in words.into_iter().enumerate() {
            self.word(number, half).store(self.tagged(number, content), Ordering::Release);
        }
    }
}
