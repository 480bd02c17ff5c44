//! The barriers of one communicator, which ranks may enter without waiting for their completion.
//!
//! Every rank counts the barriers it has entered in a word of its own. That is the whole truth: barrier
//! `number` is complete when every word has passed it. Nothing is cleared and nothing is reused, so a
//! rank may run ahead of the others by as many barriers as its caller allows, and a dead one holds
//! nothing up but what needs it.
//!
//! Ranks that wait at once would have to look at all those words. For them there is a hint: those who
//! intend to wait count their arrivals, tagged with the number, and whoever completes the count raises
//! a release flag. When everybody waits (strict barriers) the flag alone is looked at; when somebody
//! did not count, the words say it.

use crate::board::Board;
use crate::board::geometry::{ADVICE_AT, LINE};
use crate::eventcount::{Fencing, Futex};
use crate::sync::{AtomicU64, Ordering, Words, fence};
use std::sync::atomic::compiler_fence;

/// Window positions of the hint. Those who wait are never further apart than the deferring ones let
/// them be; a hint that is overwritten costs a look at the words.
pub(crate) const HINTS: usize = 4;

const STAMP: usize = 8;
const RELEASE: usize = LINE;
const GROUPS: usize = 2 * LINE;

impl<M: Words> Board<M> {
    fn entries(&self, rank: usize) -> &AtomicU64 {
        self.memory.word(self.geometry.entered_at + rank * 2 * LINE)
    }

    /// Says that the caller has entered all barriers up to `number`, this one at time `stamp`.
    #[inline(always)]
    pub fn enter_barrier(&self, me: usize, number: u64, stamp: u64) {
        // Relaxed: a time is a time; nothing is concluded from it but durations.
        self.memory.word(self.geometry.entered_at + me * 2 * LINE + STAMP).store(stamp, Ordering::Relaxed);
        match self.fencing {
            Fencing::Both => store_fenced(self.entries(me), number + 1),
            // Release: pairs with `has_entered`. The sleeper's membarrier does the rest.
            Fencing::Sleeper => self.entries(me).store(number + 1, Ordering::Release),
        }
    }

    /// The same for one who goes on without waiting, where all who sleep for a barrier fence everybody
    /// ([`Fencing::Sleeper`]): a plain store. `notify_unfenced_entry` must follow.
    #[inline(always)]
    pub fn enter_barrier_unfenced(&self, me: usize, number: u64, stamp: u64) {
        self.memory.word(self.geometry.entered_at + me * 2 * LINE + STAMP).store(stamp, Ordering::Relaxed);
        // Release: pairs with `has_entered`.
        self.entries(me).store(number + 1, Ordering::Release);
    }

    /// Whether `rank` has entered barrier `number`.
    #[inline(always)]
    pub fn has_entered(&self, rank: usize, number: u64) -> bool {
        self.entries(rank).load(Ordering::Acquire) > number // pairs with `enter_barrier`
    }

    /// How many barriers `rank` has entered.
    #[inline(always)]
    pub fn entered(&self, rank: usize) -> u64 {
        self.entries(rank).load(Ordering::Acquire) // pairs with `enter_barrier`
    }

    /// Whether all have entered barrier `number`, as far as is known that ranks below `*seen` have; `*seen`
    /// moves on.
    #[inline]
    pub fn all_entered(&self, number: u64, seen: &mut usize) -> bool {
        while *seen < self.geometry.ranks && self.has_entered(*seen, number) {
            *seen += 1;
        }
        *seen == self.geometry.ranks
    }

    /// When `rank` entered barrier `number`, 0 if it has not noted that; None if it has gone on since (or
    /// has not entered it).
    pub fn entered_at(&self, rank: usize, number: u64) -> Option<u64> {
        let stamp =
            self.memory.word(self.geometry.entered_at + rank * 2 * LINE + STAMP).load(Ordering::Relaxed);
        (self.entries(rank).load(Ordering::Acquire) == number + 1).then_some(stamp)
    }

    /// Counts the caller, who has entered barrier `number` and will wait for it; true, after raising the
    /// release flag, for the one that completes the count.
    #[inline]
    pub fn count_waiting(&self, me: usize, number: u64) -> bool {
        let hint = self.geometry.hint(number);
        let full = if self.geometry.groups == 0 {
            count(self.memory.word(hint), number) == self.geometry.ranks as u64
        } else {
            let group = self.geometry.group_of(me);
            count(self.memory.word(hint + GROUPS + group * LINE), number) == self.geometry.group_size(group)
                && count(self.memory.word(hint), number) == self.geometry.groups as u64
        };
        if full {
            // Release: everybody's entry was acquired with the count and goes along with the flag.
            self.memory.word(hint + RELEASE).store(number + 1, Ordering::Release);
        }
        full
    }

    /// Whether the release flag of barrier `number` is up: then it is complete. It may stay down for good.
    #[inline(always)]
    pub fn is_barrier_released(&self, number: u64) -> bool {
        // A later barrier's flag says the same: all entered that one, so all entered this one.
        self.memory.word(self.geometry.hint(number) + RELEASE).load(Ordering::Acquire) > number // pairs with `count_waiting`
    }

    /// Tells all members how to go about barriers; 0 until then. Relaxed: nothing is concluded from it,
    /// whoever follows late is late.
    pub fn advise(&self, advice: u64) {
        self.memory.word(ADVICE_AT).store(advice, Ordering::Relaxed);
    }

    #[inline(always)]
    pub fn advice(&self) -> u64 {
        self.memory.word(ADVICE_AT).load(Ordering::Relaxed)
    }
}

impl<M: Words + Futex> Board<M> {
    /// To be called after entering `number`: wakes those who sleep, if that completed it.
    #[inline(always)]
    pub fn notify_entry(&self, number: u64) {
        if self.fencing == Fencing::Sleeper {
            self.notify();
        } else if self.has_sleepers() {
            self.notify_if_complete(number);
        }
    }

    /// After `enter_barrier_unfenced`.
    #[inline(always)]
    pub fn notify_unfenced_entry(&self, number: u64) {
        match cfg!(loom) {
            // stands in for the sleeper's membarrier, which the checker does not know
            true => fence(Ordering::SeqCst),
            false => compiler_fence(Ordering::SeqCst),
        }
        if self.has_sleepers() {
            self.notify_unfenced_if_complete(number);
        }
    }

    #[cold]
    fn notify_unfenced_if_complete(&self, number: u64) {
        fence(Ordering::SeqCst); // of two that enter last, at least one sees the other
        self.notify_if_complete(number);
    }

    #[cold]
    fn notify_if_complete(&self, number: u64) {
        if self.all_entered(number, &mut 0) {
            self.wake_sleepers();
        }
    }
}

/// Stores with a full fence behind it: of two that enter last, at least one sees the other, and whoever
/// enters sees who sleeps. Release too: a barrier orders what the program wrote to memory shared
/// otherwise.
#[inline(always)]
pub(crate) fn store_fenced(word: &AtomicU64, value: u64) {
    if cfg!(all(target_arch = "x86_64", not(loom))) {
        word.swap(value, Ordering::SeqCst); // an exchange is a full fence there, and half the price of one
    } else {
        word.store(value, Ordering::Release);
        fence(Ordering::SeqCst);
    }
}

/// One more of barrier `number` in a tagged counter; how many there are now, 0 if a later barrier has
/// taken the counter.
#[inline(always)]
fn count(word: &AtomicU64, number: u64) -> u64 {
    let tag = (number + 1) & 0xffff_ffff_ffff;
    let mut seen = word.load(Ordering::Relaxed);
    loop {
        if seen >> 16 > tag {
            return 0;
        }
        let next = if seen >> 16 == tag { seen + 1 } else { tag << 16 | 1 };
        // AcqRel: the last one must see that all others have entered, as they had when they counted.
        match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return next & 0xffff,
            Err(now) => seen = now,
        }
    }
}
