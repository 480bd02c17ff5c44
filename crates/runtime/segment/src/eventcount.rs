//! Sleeping until something happens, and waking sleepers: an eventcount on one futex word.
//!
//! A publisher publishes its event and then looks whether anyone sleeps. A sleeper counts itself as asleep
//! and then looks once more whether the event has happened. One of the two must see the other, which takes a
//! full fence on both sides. The publisher's side is hot (a barrier of two ranks takes 70 ns), so where the
//! kernel offers `membarrier` the sleeper pays for both ([`Fencing`]).
//!
//! ```text
//! publisher                      sleeper
//! store the event                sleepers += 1
//! fence                          fence
//! if sleepers != 0: wake them    if the event has not happened: wait on the futex
//! ```
//!
//! May use: the words of a block's head. Must never: lose a wake-up, or count on a process to come back from
//! its sleep.

use crate::layout::{EVENTCOUNT_AT, SLEEPERS_AT};
use crate::sync::{Ordering, Words, fence};

/// Which side of an eventcount pays for the fence between publishing and sleeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fencing {
    /// Publishers and sleepers each execute a fence.
    Both,
    /// The sleeper makes every running thread of the node execute one (`MEMBARRIER_CMD_GLOBAL_EXPEDITED`).
    Sleeper,
}

/// What the kernel does for an eventcount: blocking on its word and waking the threads that block on it. The
/// model checker has an implementation of its own.
pub trait Futex {
    /// Blocks while the word is `seen`, at most `timeout_ns`. It may return early.
    fn wait(&self, seen: u64, timeout_ns: u64);

    /// Wakes every thread that blocks on the word.
    fn wake_all(&self);

    /// Blocks like [`Futex::wait`], until [`Futex::wake`] is called with one of these bits. It may be woken
    /// for others.
    fn wait_as(&self, _bits: u32, seen: u64, timeout_ns: u64) {
        self.wait(seen, timeout_ns);
    }

    /// Wakes at least `most` of the threads that block for one of these bits, or all if there are fewer.
    fn wake(&self, _most: u32, _bits: u32) {
        self.wake_all();
    }

    /// Executes a full fence on every running thread that shares the memory.
    fn membarrier(&self);
}

/// Wakes those who sleep at the eventcount in the head of the block at `memory`, if there are any. To be
/// called after publishing what they may sleep for.
#[inline(always)]
pub fn notify<M: Words + Futex>(memory: &M, fencing: Fencing) {
    if have_missed(memory, fencing) {
        wake_sleepers(memory);
    }
}

/// Whether a thread sleeps or is about to, which may not see what this one has just published.
#[inline(always)]
pub(crate) fn have_missed<M: Words>(memory: &M, fencing: Fencing) -> bool {
    match fencing {
        // Pairs with the fence in `sleep_unless`.
        Fencing::Both => fence(Ordering::SeqCst),
        // Only the compiler must keep the order; the sleeper's membarrier does the rest.
        Fencing::Sleeper => std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst),
    }
    has_sleepers(memory)
}

/// Whether a thread sleeps or is about to; to be asked after a full fence.
#[inline(always)]
pub(crate) fn has_sleepers<M: Words>(memory: &M) -> bool {
    memory.word(SLEEPERS_AT).load(Ordering::Relaxed) != 0
}

#[cold]
pub(crate) fn wake_sleepers<M: Words + Futex>(memory: &M) {
    memory.word(EVENTCOUNT_AT).fetch_add(1, Ordering::SeqCst);
    memory.wake_all();
}

/// Wakes some of those that sleep for one of these bits.
#[cold]
pub(crate) fn wake_some_sleepers<M: Words + Futex>(memory: &M, most: u32, bits: u32) {
    memory.word(EVENTCOUNT_AT).fetch_add(1, Ordering::SeqCst);
    memory.wake(most, bits);
}

/// Sleeps until some thread calls [`notify`], at most `timeout_ns`, unless `happened` holds already.
///
/// A process that dies in here leaves the count of sleepers one too high. That costs needless wake-ups, no
/// more.
pub fn sleep_unless<M: Words + Futex>(
    memory: &M,
    fencing: Fencing,
    timeout_ns: u64,
    happened: impl FnMut() -> bool,
) {
    sleep_with(memory, SLEEPERS_AT, 1, fencing, happened, |seen| memory.wait(seen, timeout_ns));
}

/// The same until [`wake_some_sleepers`] is called with one of these bits.
pub(crate) fn sleep_as<M: Words + Futex>(
    memory: &M,
    fencing: Fencing,
    bits: u32,
    timeout_ns: u64,
    happened: impl FnMut() -> bool,
) {
    sleep_with(memory, SLEEPERS_AT, 1, fencing, happened, |seen| memory.wait_as(bits, seen, timeout_ns));
}

/// The same for a thread that counts itself at another place, so that only those who look there wake it. It
/// counts as `weight` sleepers.
pub(crate) fn sleep_counted<M: Words + Futex>(
    memory: &M,
    (count_at, weight): (usize, u64),
    bits: u32,
    timeout_ns: u64,
    happened: impl FnMut() -> bool,
) {
    let wait = |seen| memory.wait_as(bits, seen, timeout_ns);
    sleep_with(memory, count_at, weight, Fencing::Both, happened, wait);
}

fn sleep_with<M: Words + Futex>(
    memory: &M,
    count_at: usize,
    weight: u64,
    fencing: Fencing,
    mut happened: impl FnMut() -> bool,
    wait: impl FnOnce(u64),
) {
    let sleepers = memory.word(count_at);
    sleepers.fetch_add(weight, Ordering::SeqCst);
    match fencing {
        Fencing::Both => fence(Ordering::SeqCst), // pairs with the fence in `notify`
        Fencing::Sleeper => memory.membarrier(),
    }
    // Acquire: pairs with the increment in `wake_sleepers`. It comes before the look at the event, so that a
    // wake-up after that look changes the word and ends the wait.
    let seen = memory.word(EVENTCOUNT_AT).load(Ordering::Acquire);
    if !happened() {
        wait(seen);
    }
    sleepers.fetch_sub(weight, Ordering::SeqCst);
}
