//! The barriers of one communicator, which ranks may enter without waiting for them to complete.
//!
//! Every rank counts the barriers that it has entered in a word of its own. These words alone decide:
//! barrier `number` is complete when every word has passed it. Nothing is cleared and nothing is reused,
//! so a rank may run ahead of the others by as many barriers as its caller allows, and a dead rank holds
//! up only what needs it.
//!
//! A rank that waits at once would have to look at all those words. A hint spares it that: the ranks that
//! intend to wait count their arrivals, tagged with the barrier's number, and the rank that completes the
//! count raises a release flag. When every rank waits (strict barriers), the flag alone is looked at; when
//! some rank did not count, the words decide.

use crate::board::Board;
use crate::board::tagged::{rank_in, tagged};
use crate::eventcount::{Fencing, Futex};
use crate::layout::{ADVICE_AT, LINE};
use crate::sync::{AtomicU64, Ordering, Words, fence, store_fenced};
use std::sync::atomic::compiler_fence;

const STAMP: usize = 8;
const RELEASE: usize = LINE;
const GROUPS: usize = 2 * LINE;
/// Beside the release flag: which rank came last.
const LAST: usize = RELEASE + 8;

impl<M: Words> Board<M> {
    fn entries(&self, rank: usize) -> &AtomicU64 {
        self.memory.word(self.geometry.entered(rank))
    }

    fn stamp(&self, rank: usize) -> &AtomicU64 {
        self.memory.word(self.geometry.entered(rank) + STAMP)
    }

    /// Says that the caller has entered all barriers up to `number`, and this one at time `stamp`.
    /// [`Board::notify_entry`] must follow.
    #[inline(always)]
    pub fn enter_barrier(&self, me: usize, number: u64, stamp: u64) {
        // Relaxed: nothing but a duration is concluded from a time.
        self.stamp(me).store(stamp, Ordering::Relaxed);
        match self.fencing {
            // The fence pairs with the one of a sleeper, and with that of another rank that enters last: at
            // least one of two such ranks sees the other.
            Fencing::Both => store_fenced(self.entries(me), number + 1),
            // Release: pairs with the load in `has_entered`. The sleeper's membarrier does the rest.
            Fencing::Sleeper => self.entries(me).store(number + 1, Ordering::Release),
        }
    }

    /// The same for a rank that goes on without waiting, where every rank that sleeps for a barrier fences
    /// all others ([`Fencing::Sleeper`]): a plain store. [`Board::notify_unfenced_entry`] must follow.
    #[inline(always)]
    pub fn enter_barrier_unfenced(&self, me: usize, number: u64, stamp: u64) {
        self.stamp(me).store(stamp, Ordering::Relaxed);
        // Release: pairs with the load in `has_entered`.
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

    /// Whether all ranks have entered barrier `number`. Ranks below `*seen` are known to have entered it;
    /// `*seen` moves up, so that a later look at the same barrier goes on there.
    #[inline]
    pub fn all_entered(&self, number: u64, seen: &mut usize) -> bool {
        while *seen < self.geometry.ranks && self.has_entered(*seen, number) {
            *seen += 1;
        }
        *seen == self.geometry.ranks
    }

    /// When `rank` entered barrier `number`, 0 if it did not note the time. None if it has not entered it, or
    /// has entered a later one since.
    pub fn entered_at(&self, rank: usize, number: u64) -> Option<u64> {
        let is_in_it = || self.entries(rank).load(Ordering::Acquire) == number + 1;
        // It may note the time of a later one just before it counts that: this number is for reports only.
        let stamp = is_in_it().then(|| self.stamp(rank).load(Ordering::Acquire))?;
        is_in_it().then_some(stamp)
    }

    /// Counts the caller, which has entered barrier `number` and will wait for it; true, after raising the
    /// release flag, for the rank that completes the count.
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
            self.note_last_to_enter(me, number);
            // Release: pairs with the load in `is_barrier_released`. All ranks' entries were acquired
            // with the count and go along with the flag.
            self.memory.word(hint + RELEASE).store(number + 1, Ordering::Release);
        }
        full
    }

    /// Whether the release flag of barrier `number` is up: then the barrier is complete. The flag may stay
    /// down for good, if some rank did not count.
    #[inline(always)]
    pub fn is_barrier_released(&self, number: u64) -> bool {
        // A later barrier's flag says the same: all ranks entered that one, so all entered this one.
        // Acquire: pairs with the store in `count_waiting`.
        self.memory.word(self.geometry.hint(number) + RELEASE).load(Ordering::Acquire) > number
    }

    fn note_last_to_enter(&self, me: usize, number: u64) {
        // Relaxed: only the report uses it.
        let word = self.memory.word(self.geometry.hint(number) + LAST);
        word.store(tagged(number + 1, me), Ordering::Relaxed);
    }

    /// The rank that entered a complete barrier last, if it has noted that: a rank that does not wait looks
    /// only when others sleep.
    pub fn last_to_enter(&self, number: u64) -> Option<usize> {
        let word = self.memory.word(self.geometry.hint(number) + LAST);
        rank_in(word.load(Ordering::Relaxed), number + 1)
    }

    /// Tells all members how to go about barriers. Relaxed: nothing is concluded from it, and a member may
    /// follow late.
    pub fn advise(&self, advice: u64) {
        self.memory.word(ADVICE_AT).store(advice, Ordering::Relaxed);
    }

    /// The last advice; 0 if there was none.
    #[inline(always)]
    pub fn advice(&self) -> u64 {
        self.memory.word(ADVICE_AT).load(Ordering::Relaxed)
    }
}

impl<M: Words + Futex> Board<M> {
    /// Wakes the ranks that sleep for barrier `number`, if it is complete. To be called after entering it.
    #[inline(always)]
    pub fn notify_entry(&self, me: usize, number: u64) {
        if self.fencing == Fencing::Sleeper {
            self.notify();
        } else if self.has_sleepers() {
            self.notify_if_complete(me, number);
        }
    }

    /// The same after [`Board::enter_barrier_unfenced`].
    #[inline(always)]
    pub fn notify_unfenced_entry(&self, me: usize, number: u64) {
        match cfg!(loom) {
            // Stands in for the sleeper's membarrier, which the checker does not know.
            true => fence(Ordering::SeqCst),
            false => compiler_fence(Ordering::SeqCst),
        }
        if self.has_sleepers() {
            self.notify_unfenced_if_complete(me, number);
        }
    }

    #[cold]
    fn notify_unfenced_if_complete(&self, me: usize, number: u64) {
        // Pairs with itself: of two ranks that enter last, at least one sees the other.
        fence(Ordering::SeqCst);
        self.notify_if_complete(me, number);
    }

    #[cold]
    fn notify_if_complete(&self, me: usize, number: u64) {
        if self.all_entered(number, &mut 0) {
            self.note_last_to_enter(me, number);
            self.wake_sleepers();
        }
    }
}

/// Adds one arrival of barrier `number` to a tagged counter. Returns how many there are now, 0 if a later
/// barrier has taken the counter.
#[inline(always)]
fn count(word: &AtomicU64, number: u64) -> u64 {
    let tag = (number + 1) & 0xffff_ffff_ffff;
    let mut seen = word.load(Ordering::Relaxed);
    loop {
        if seen >> 16 > tag {
            return 0;
        }
        let next = if seen >> 16 == tag { seen + 1 } else { tag << 16 | 1 };
        // AcqRel: pairs with itself. The last one must see that all others have entered, as they had when
        // they counted.
        match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return next & 0xffff,
            Err(now) => seen = now,
        }
    }
}
