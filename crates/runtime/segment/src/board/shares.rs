//! Shares of the work on an instance at which all ranks have arrived: each share is claimed once, by
//! whichever rank has time for it.
//!
//! The upper bits of both words say of which instance the lower bits speak, so nothing needs clearing.

use crate::board::{Board, Seq};
use crate::layout::LINE;
use crate::sync::{Ordering, Words};

const CLAIMED: usize = 2 * LINE;
const FINISHED: usize = CLAIMED + 8;

impl<M: Words> Board<M> {
    /// Claims the next of `shares` pieces of work; None when all are claimed.
    pub fn claim(&self, seq: Seq, shares: u32) -> Option<u32> {
        let word = self.memory.word(self.geometry.slot(seq.0) + CLAIMED);
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let next = if seen >> 16 == seq.tag() { seen & 0xffff } else { 0 };
            if next >= shares as u64 {
                return None;
            }
            let new = seq.tag() << 16 | (next + 1);
            // Relaxed: a claim carries no data; the deposits were acquired with the complete count of
            // arrivals.
            match word.compare_exchange_weak(seen, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(next as u32),
                Err(now) => seen = now,
            }
        }
    }

    /// Reports a share as done, its result written; true for the rank whose report completes all of `shares`
    /// (at most 16).
    pub fn finish(&self, seq: Seq, share: u32, shares: u32) -> bool {
        let word = self.memory.word(self.geometry.slot(seq.0) + FINISHED);
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let mask = if seen >> 16 == seq.tag() { seen & 0xffff } else { 0 } | 1 << share;
            let new = seq.tag() << 16 | mask;
            // Release: pairs with the load in `finished`. Acquire too: the last one passes on what the others
            // wrote.
            match word.compare_exchange_weak(seen, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return mask == (1 << shares) - 1,
                Err(now) => seen = now,
            }
        }
    }

    /// The shares that are done, one bit each.
    pub fn finished(&self, seq: Seq) -> u64 {
        // Acquire: pairs with the exchange in `finish`.
        let seen = self.memory.word(self.geometry.slot(seq.0) + FINISHED).load(Ordering::Acquire);
        if seen >> 16 == seq.tag() { seen & 0xffff } else { 0 }
    }
}
