//! The sender's end: claims one chunk after another while a receiver has the pipeline open.

use super::geometry::{CHUNKS_AT, CLAIMS_AT, SLOTS, TAKEN_AT, TOKEN_AT, filled_offset};
use super::{Claims, counted};
use crate::sync::{Ordering, Words};

/// A chunk that the sender is to copy into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The message.
    pub token: u64,
    /// Which chunk of it.
    pub chunk: usize,
    /// Where to copy it.
    pub slot: usize,
    /// What the slot's word says when it is there.
    filled: u64,
}

/// A process's end of its own pipeline. One thread at a time uses it.
pub struct Sender<M> {
    memory: M,
    slots: usize,
}

impl<M: Words> Sender<M> {
    /// The pipeline in this memory.
    pub fn new(memory: M) -> Sender<M> {
        Sender::with_slots(memory, SLOTS)
    }

    /// A pipeline with fewer slots, for tests.
    pub fn with_slots(memory: M, slots: usize) -> Sender<M> {
        Sender { memory, slots }
    }

    /// The memory of the pipeline.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// Claims a chunk of the message for which the pipeline is open, whose sender has not been answered then.
    /// None if there is nothing to do.
    #[inline]
    pub fn claim(&self) -> Option<Claimed> {
        let word = self.memory.word(CLAIMS_AT);
        // Acquire: pairs with the store in `begin` of the receiver.
        let found = word.load(Ordering::Acquire);
        let claims = Claims::of_word(found);
        if claims.unclaimed()? == 0 {
            return None;
        }
        let token = self.memory.word(TOKEN_AT).load(Ordering::Relaxed);
        let chunks = self.memory.word(CHUNKS_AT).load(Ordering::Relaxed) as usize;
        // Acquire: pairs with the store in `taken`. The slot that is written next has been read.
        let taken = self.memory.word(TAKEN_AT).load(Ordering::Acquire) as usize;
        // If the pipeline has changed hands meanwhile, these words are of no use, and the exchange fails.
        let before = chunks.checked_sub(claims.back as usize)?;
        if before.checked_sub(taken)? >= self.slots {
            return None; // the receiver has not emptied the slot yet
        }
        let rest = Claims { back: claims.back - 1, ..claims };
        // Release: pairs with the exchange in `drop` of the receiver. The next one writes these words later.
        word.compare_exchange(found, rest.word(), Ordering::Release, Ordering::Relaxed).ok()?;
        Some(Claimed {
            token,
            chunk: claims.back as usize - 1,
            slot: before % self.slots,
            filled: counted(claims.generation, before + 1),
        })
    }

    /// Says that a chunk is in its slot.
    pub fn publish(&self, claimed: &Claimed) {
        // Release: pairs with the load in `is_filled` of the receiver.
        self.memory.word(filled_offset(claimed.slot)).store(claimed.filled, Ordering::Release);
    }
}
