//! The receiver's end: opens a pipeline for one message, and closes it.

use super::geometry::{CHUNKS_AT, CLAIMS_AT, SLOTS, TAKEN_AT, TOKEN_AT, filled_offset};
use super::{Claims, MOST_CHUNKS, NO_MESSAGE, OPENING, counted};
use crate::sync::{AtomicU64, Ordering, Words};

/// What the receiver is to copy next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A chunk that the sender has copied into a slot. The slot is the sender's again after
    /// [`Receiver::taken`].
    Slot {
        /// Which chunk of the message.
        chunk: usize,
        /// Where it is.
        slot: usize,
    },
    /// Chunks that are to be read from the sender's memory.
    Fetch {
        /// The first one.
        chunk: usize,
        /// How many.
        chunks: usize,
    },
}

/// The receiver's end of another process's pipeline, for one message. Dropping it closes the pipeline; only
/// then may the sender learn that its message has been received.
pub struct Receiver<M: Words> {
    memory: M,
    slots: usize,
    generation: u32,
    chunks: usize,
    /// The sender's chunks that this end is done with.
    taken: usize,
    /// How many chunks were claimed for this end the last time.
    fetched: usize,
}

impl<M: Words> Receiver<M> {
    /// Opens the pipeline for the message with this token, which has so many chunks. None if it is in use,
    /// or if the message is too large.
    pub fn begin(memory: M, token: u64, chunks: usize) -> Option<Receiver<M>> {
        Receiver::with_slots(memory, SLOTS, token, chunks)
    }

    /// The same with fewer slots, for tests.
    pub fn with_slots(memory: M, slots: usize, token: u64, chunks: usize) -> Option<Receiver<M>> {
        let claims = memory.word(CLAIMS_AT);
        let found = claims.load(Ordering::Relaxed);
        let last = Claims::of_word(found);
        // Memory that has never been used is all zero.
        let is_free = found == 0 || last == Claims::closed(last.generation);
        if !is_free || !(1..=MOST_CHUNKS).contains(&chunks) {
            return None;
        }
        let generation = last.generation.wrapping_add(1).max(1);
        let opening = Claims { generation, front: NO_MESSAGE, back: OPENING };
        // Acquire: pairs with the exchange in `drop`. What the last receiver wrote comes before what this one
        // does.
        claims.compare_exchange(found, opening.word(), Ordering::Acquire, Ordering::Relaxed).ok()?;
        memory.word(TOKEN_AT).store(token, Ordering::Relaxed);
        memory.word(CHUNKS_AT).store(chunks as u64, Ordering::Relaxed);
        memory.word(TAKEN_AT).store(0, Ordering::Relaxed);
        let open = Claims { generation, front: 0, back: chunks as u16 };
        // Release: pairs with the load in `claim` of the sender.
        claims.store(open.word(), Ordering::Release);
        Some(Receiver { memory, slots, generation, chunks, taken: 0, fetched: 0 })
    }

    fn claims(&self) -> &AtomicU64 {
        self.memory.word(CLAIMS_AT)
    }

    /// What to copy next; `None` when the message is complete. While all that is left has been claimed by the
    /// sender, `may_wait` is asked whether to look again; if not, this end reads the next such chunk itself.
    pub fn next(&mut self, mut may_wait: impl FnMut() -> bool) -> Option<Part> {
        loop {
            // Relaxed: only counts are read here; the slots have words of their own.
            let found = self.claims().load(Ordering::Relaxed);
            let claims = Claims::of_word(found);
            let claimed = self.chunks - claims.back as usize;
            if self.taken < claimed && self.is_filled() {
                let chunk = self.chunks - 1 - self.taken;
                return Some(Part::Slot { chunk, slot: self.taken % self.slots });
            }
            let unclaimed = claims.unclaimed().expect("only this receiver closes the pipeline");
            if unclaimed > 0 {
                // A sender that copies too gets small parts beside it. Else each call costs more than it
                // gains.
                let doubled = if claimed > 0 { 1 } else { 2 * self.fetched };
                let chunks = doubled.clamp(1, unclaimed.div_ceil(4));
                let rest = Claims { front: claims.front + chunks as u16, ..claims };
                let swapped =
                    self.claims().compare_exchange(found, rest.word(), Ordering::Relaxed, Ordering::Relaxed);
                if swapped.is_ok() {
                    self.fetched = chunks;
                    return Some(Part::Fetch { chunk: claims.front as usize, chunks });
                }
            } else if self.taken == claimed {
                return None;
            } else if !may_wait() {
                let chunk = self.chunks - 1 - self.taken;
                self.taken();
                return Some(Part::Fetch { chunk, chunks: 1 });
            }
        }
    }

    /// Returns whether the sender has delivered the chunk that is to be taken next.
    fn is_filled(&self) -> bool {
        // Acquire: pairs with the store in `publish`.
        let filled = self.memory.word(filled_offset(self.taken % self.slots)).load(Ordering::Acquire);
        filled == counted(self.generation, self.taken + 1)
    }

    /// Gives the slot back that [`next`](Self::next) returned last.
    pub fn taken(&mut self) {
        self.taken += 1;
        // Release: pairs with the load in `claim` of the sender: the slot has been read.
        self.memory.word(TAKEN_AT).store(self.taken as u64, Ordering::Release);
    }
}

impl<M: Words> Drop for Receiver<M> {
    fn drop(&mut self) {
        // Release: pairs with the exchange in `begin`. Acquire: pairs with the one in `claim` of the sender.
        // A sender that has seen the pipeline open cannot claim anything any more.
        self.claims().swap(Claims::closed(self.generation).word(), Ordering::AcqRel);
    }
}
