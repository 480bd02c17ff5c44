//! Sleeping until something happens, and waking those who sleep: an event count on one futex word a
//! block.
//!
//! Who publishes an event looks whether anybody sleeps; who wants to sleep says so first and then looks
//! once more whether the event has happened. One of the two must see the other: that takes a full fence
//! on both sides. The publisher's side is hot (a barrier of two ranks takes 70 ns), so where the kernel
//! offers `membarrier` the sleeper pays for both.

use crate::board::Board;
use crate::board::geometry::{EVENTCOUNT_AT, ROOM_WANTED_AT, SLEEPERS_AT};
use crate::sync::{Ordering, Words, fence};

/// How the two sides of a bell agree on an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fencing {
    /// Both sides execute a fence.
    Both,
    /// The sleeper makes every running thread of the node execute one (`MEMBARRIER_CMD_GLOBAL_EXPEDITED`).
    Sleeper,
}

/// Blocking on a word and waking those blocked on it; the futex, or its model under loom.
pub trait Futex {
    /// Blocks while the bell's word is `seen`, at most `timeout_ns`; may return early.
    fn wait(&self, seen: u64, timeout_ns: u64);
    fn wake_all(&self);
    /// A full fence on every running thread that shares the block.
    fn membarrier(&self);
}

/// To be called after publishing something that others may sleep for at the bell of the block that
/// starts at `memory`.
#[inline(always)]
pub fn notify<M: Words + Futex>(memory: &M, fencing: Fencing) {
    match fencing {
        // Pairs with the fence in `sleep_unless`.
        Fencing::Both => fence(Ordering::SeqCst),
        // Only the compiler must keep the order; the sleeper's membarrier does the rest.
        Fencing::Sleeper => std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst),
    }
    if has_sleepers(memory) {
        wake_sleepers(memory);
    }
}

/// Whether somebody sleeps or is about to; to be asked after a full fence.
#[inline(always)]
pub(crate) fn has_sleepers<M: Words>(memory: &M) -> bool {
    memory.word(SLEEPERS_AT).load(Ordering::Relaxed) != 0
}

#[cold]
pub(crate) fn wake_sleepers<M: Words + Futex>(memory: &M) {
    memory.word(EVENTCOUNT_AT).fetch_add(1, Ordering::SeqCst);
    memory.wake_all();
}

/// Sleeps until somebody announces something, at most `timeout_ns`, unless `happened` already holds.
///
/// A process that dies in here leaves the count of sleepers one too high: that costs needless wake-ups,
/// no more.
pub fn sleep_unless<M: Words + Futex>(
    memory: &M,
    fencing: Fencing,
    timeout_ns: u64,
    mut happened: impl FnMut() -> bool,
) {
    let sleepers = memory.word(SLEEPERS_AT);
    sleepers.fetch_add(1, Ordering::SeqCst);
    match fencing {
        Fencing::Both => fence(Ordering::SeqCst), // pairs with the fence in `announce`
        Fencing::Sleeper => memory.membarrier(),
    }
    // Acquire: pairs with the increment in `ring`; read before the look, so that a ring after it is noticed.
    let seen = memory.word(EVENTCOUNT_AT).load(Ordering::Acquire);
    if !happened() {
        memory.wait(seen, timeout_ns);
    }
    sleepers.fetch_sub(1, Ordering::SeqCst);
}

impl<M: Words + Futex> Board<M> {
    /// To be called after publishing something that others may sleep for.
    #[inline(always)]
    pub fn notify(&self) {
        notify(&self.memory, self.fencing);
    }

    /// Whether somebody sleeps or is about to; to be asked after a full fence.
    #[inline(always)]
    pub(crate) fn has_sleepers(&self) -> bool {
        has_sleepers(&self.memory)
    }

    /// To be called after leaving instances: wakes those who sleep until there is room. There is no fence
    /// here: once in a blue moon a sleeper is overlooked, and then sleeps out its time.
    #[inline(always)]
    pub fn notify_room(&self) {
        if self.memory.word(ROOM_WANTED_AT).load(Ordering::Relaxed) != 0 {
            self.notify();
        }
    }

    /// As `sleep_unless`, for one who waits until others have left.
    pub fn sleep_until_room(&self, fencing: Fencing, timeout_ns: u64, happened: impl FnMut() -> bool) {
        let wanted = self.memory.word(ROOM_WANTED_AT);
        wanted.fetch_add(1, Ordering::SeqCst);
        self.sleep_unless(fencing, timeout_ns, happened);
        wanted.fetch_sub(1, Ordering::SeqCst);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn wake_sleepers(&self) {
        wake_sleepers(&self.memory);
    }

    /// Sleeps until somebody announces something, at most `timeout_ns`, unless `happened` already holds.
    /// `fencing`: the board's own, but for what is announced without a fence
    /// ([`Board::notify_unfenced_entry`]).
    pub fn sleep_unless(&self, fencing: Fencing, timeout_ns: u64, happened: impl FnMut() -> bool) {
        sleep_unless(&self.memory, fencing, timeout_ns, happened);
    }
}
