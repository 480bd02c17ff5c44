//! The bill-board of one communicator: numbered instances of collectives, each with a cell a rank.
//!
//! Instance `seq` uses window position `seq mod window`. The rules that make it right:
//!
//! * A cell is written by its owner only, and published by storing `seq + 1` into its flag. Flags
//!   count, they are never cleared.
//! * A rank enters instance `seq` only when every rank has *left* instance `seq - window`: from then on
//!   nobody reads what stands there. So nobody runs ahead by more than the window, and memory is
//!   bounded.
//! * Arrivals of an instance are counted at its own window position; since nobody can be two rounds
//!   ahead, the count is monotone: round `k` is full at `ranks × k`.
//! * Whoever brings the count to full, and whoever sees it full, can complete the instance alone: all
//!   deposits are there and stay until everyone has left. A process that dies or is descheduled holds
//!   up nobody but itself.

pub mod barrier;
pub mod call_queue;
pub mod geometry;

use crate::board::geometry::{Geometry, LINE, REVOKED_AT};
use crate::eventcount::Fencing;
use crate::sync::{AtomicU64, Ordering, Words};

/// The number of an instance of a collective on one communicator, counted alike by all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seq(pub u64);

impl Seq {
    /// What a flag shows when this instance is published.
    #[inline(always)]
    pub fn epoch(self) -> u64 {
        self.0 + 1
    }
}

/// One communicator's block, as one member sees it.
pub struct Board<M> {
    pub memory: M,
    pub geometry: Geometry,
    pub fencing: Fencing,
}

const RELEASE: usize = LINE;
const WORK: usize = 2 * LINE;
const GROUPS: usize = 3 * LINE;

impl<M: Words> Board<M> {
    /// The flag of `rank`'s cell.
    #[inline(always)]
    fn flag(&self, rank: usize, seq: Seq) -> &AtomicU64 {
        self.memory.word(self.geometry.cell(rank, seq.0))
    }

    /// Publishes what the caller has written into its cell (and ring).
    #[inline(always)]
    pub fn publish(&self, me: usize, seq: Seq) {
        // Release: pairs with the load in `published`, so that the payload is seen with the flag.
        self.flag(me, seq).store(seq.epoch(), Ordering::Release);
    }

    /// Whether `rank` has published its cell; if so its payload may be read until the caller leaves.
    #[inline(always)]
    pub fn is_published(&self, rank: usize, seq: Seq) -> bool {
        self.flag(rank, seq).load(Ordering::Acquire) >= seq.epoch() // pairs with `publish`
    }

    /// Counts the caller's arrival; true for the one that completes round `round` (1, 2, …) of this window
    /// position.
    #[inline(always)]
    pub fn arrive(&self, me: usize, seq: Seq, round: u64) -> bool {
        let slot = self.geometry.slot(seq.0);
        let top = self.memory.word(slot);
        // AcqRel everywhere: the last to arrive must see what all others deposited before they arrived.
        // SeqCst because on x86 it costs the same and it stands for the publisher's fence of the bell.
        if self.geometry.groups == 0 {
            return top.fetch_add(1, Ordering::SeqCst) + 1 == round * self.geometry.ranks as u64;
        }
        let group = self.geometry.group_of(me);
        let counter = self.memory.word(slot + GROUPS + group * LINE);
        counter.fetch_add(1, Ordering::SeqCst) + 1 == round * self.geometry.group_size(group)
            && top.fetch_add(1, Ordering::SeqCst) + 1 == round * self.geometry.groups as u64
    }

    /// Whether all have arrived in round `round`.
    #[inline(always)]
    pub fn all_arrived(&self, seq: Seq, round: u64) -> bool {
        let wanted =
            round * if self.geometry.groups == 0 { self.geometry.ranks } else { self.geometry.groups } as u64;
        self.memory.word(self.geometry.slot(seq.0)).load(Ordering::Acquire) >= wanted // pairs with `arrive`
    }

    /// Releases the others, after the caller has written the result.
    #[inline(always)]
    pub fn release(&self, seq: Seq) {
        // Release: pairs with `released`, so that the result is seen with the flag.
        self.memory.word(self.geometry.slot(seq.0) + RELEASE).store(seq.epoch(), Ordering::Release);
    }

    #[inline(always)]
    pub fn is_released(&self, seq: Seq) -> bool {
        // pairs with `release`
        self.memory.word(self.geometry.slot(seq.0) + RELEASE).load(Ordering::Acquire) >= seq.epoch()
    }

    /// Takes the next of `shares` pieces of work on a full instance; None when all are taken.
    pub fn claim(&self, seq: Seq, shares: u32) -> Option<u32> {
        let word = self.memory.word(self.geometry.slot(seq.0) + WORK);
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            // The upper bits say of which instance the lower ones speak: nothing needs clearing.
            let next = if seen >> 16 == tag(seq) { seen & 0xffff } else { 0 };
            if next >= shares as u64 {
                return None;
            }
            // Relaxed: a claim carries no data; the deposits were acquired when the instance was seen full.
            match word.compare_exchange_weak(
                seen,
                tag(seq) << 16 | (next + 1),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(next as u32),
                Err(now) => seen = now,
            }
        }
    }

    /// Reports a share as done, its result written; true for the one that completes all of `shares` (at
    /// most 16).
    pub fn finish(&self, seq: Seq, share: u32, shares: u32) -> bool {
        let word = self.memory.word(self.geometry.slot(seq.0) + WORK + 8);
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let mask = if seen >> 16 == tag(seq) { seen & 0xffff } else { 0 } | 1 << share;
            // AcqRel: pairs with `finished`; acquire too, so that the last one passes on what the others
            // wrote.
            match word.compare_exchange_weak(seen, tag(seq) << 16 | mask, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return mask == (1 << shares) - 1,
                Err(now) => seen = now,
            }
        }
    }

    /// The shares that are done, one bit each.
    pub fn finished(&self, seq: Seq) -> u64 {
        // pairs with `finish`
        let seen = self.memory.word(self.geometry.slot(seq.0) + WORK + 8).load(Ordering::Acquire);
        if seen >> 16 == tag(seq) { seen & 0xffff } else { 0 }
    }

    /// Says that the caller is through with every instance below `count`.
    #[inline(always)]
    pub fn leave(&self, me: usize, count: u64) {
        // Release: pairs with `left`, so that the caller's reads are over when a cell is written again.
        self.memory.word(self.geometry.left_at + me * LINE).store(count, Ordering::Release);
    }

    /// How many instances `rank` is through with.
    #[inline(always)]
    pub fn left(&self, rank: usize) -> u64 {
        self.memory.word(self.geometry.left_at + rank * LINE).load(Ordering::Acquire) // pairs with `leave`
    }

    /// The smallest of everybody's `left`.
    pub fn all_left(&self) -> u64 {
        (0..self.geometry.ranks).map(|r| self.left(r)).min().unwrap_or(0)
    }
}

/// Marks the communicator whose first block this is as revoked, for good. To be announced afterwards.
pub fn revoke(block: &impl Words) {
    // Release: pairs with `is_revoked`; whoever sees the mark sees what the caller did before.
    block.word(REVOKED_AT).store(1, Ordering::Release);
}

/// Marks it as one of whose members has died, for good. It counts as revoked: what is under way ends.
/// To be announced afterwards.
pub fn fail(block: &impl Words) {
    // Release: pairs with `is_revoked`. A revocation stands.
    let _ = block.word(REVOKED_AT).compare_exchange(0, 2, Ordering::Release, Ordering::Relaxed);
}

/// Whether it is that, and has not been revoked by the program.
pub fn has_failed(block: &impl Words) -> bool {
    block.word(REVOKED_AT).load(Ordering::Acquire) == 2 // pairs with `fail`
}

#[inline]
pub fn is_revoked(block: &impl Words) -> bool {
    block.word(REVOKED_AT).load(Ordering::Acquire) != 0 // pairs with `revoke`
}

fn tag(seq: Seq) -> u64 {
    seq.epoch() & 0xffff_ffff_ffff
}
