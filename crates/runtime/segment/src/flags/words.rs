//! Raising flags, counting, and sleeping until a flag or counter has come to a value.

use super::geometry::SLEEPERS_AT;
use crate::eventcount::{self, Fencing, Futex};
use crate::sync::{Ordering, Words, store_fenced};

/// The flags of one communicator, as one member sees them. Flags and counters are named by their offsets in
/// the block (see [`FlagGeometry`](super::FlagGeometry)).
pub struct Flags<M> {
    /// The words of the block.
    pub memory: M,
    /// Each rank's eventcount.
    pub eventcounts: Vec<M>,
    /// Which side of the eventcounts pays for the fence.
    pub fencing: Fencing,
}

impl<M: Words> Flags<M> {
    /// Raises a flag. Other ranks may sleep for it: the last of several raises must be a
    /// [`Self::raise_last`].
    #[inline(always)]
    pub fn raise(&self, at: usize, value: u64) {
        // Release: pairs with the load in `has_reached`; what this rank knows of other ranks goes along.
        self.memory.word(at).store(value, Ordering::Release);
    }

    /// Raises a flag; afterwards [`Self::has_sleepers`] may be asked.
    #[inline(always)]
    pub fn raise_last(&self, at: usize, value: u64) {
        match self.fencing {
            // Release too; the fence pairs with the one in `eventcount::sleep_unless`.
            Fencing::Both => store_fenced(self.memory.word(at), value),
            Fencing::Sleeper => self.memory.word(at).store(value, Ordering::Release),
        }
    }

    /// Adds one to a counter and returns its new value. Afterwards [`Self::has_sleepers`] may be asked.
    #[inline(always)]
    pub fn add(&self, at: usize) -> u64 {
        // Release: pairs with the load in `has_reached`. Acquire: a rank that completes a count has seen what
        // all ranks did that counted before. SeqCst: costs the same on x86, and is a fence there.
        let count = self.memory.word(at).fetch_add(1, Ordering::SeqCst) + 1;
        if self.fencing == Fencing::Both && cfg!(any(not(target_arch = "x86_64"), loom)) {
            crate::sync::fence(Ordering::SeqCst); // pairs with the one in `eventcount::sleep_unless`
        }
        count
    }

    /// Whether a flag or counter has come to `value`.
    #[inline(always)]
    pub fn has_reached(&self, at: usize, value: u64) -> bool {
        // Acquire: pairs with `raise`, `raise_last` and `add`.
        self.memory.word(at).load(Ordering::Acquire) >= value
    }

    /// Whether any rank sleeps. To be asked after a [`Self::raise_last`] or an [`Self::add`]; if so,
    /// [`Self::wake`] must follow for each rank that the signal concerns.
    #[inline(always)]
    pub fn has_sleepers(&self) -> bool {
        if self.fencing == Fencing::Sleeper {
            // Only the compiler must keep the order; the sleeper's membarrier does the rest.
            std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        }
        self.memory.word(SLEEPERS_AT).load(Ordering::Relaxed) != 0
    }
}

impl<M: Words + Futex> Flags<M> {
    /// Wakes a rank, if it sleeps.
    #[cold]
    pub fn wake(&self, rank: usize) {
        if eventcount::has_sleepers(&self.eventcounts[rank]) {
            eventcount::wake_sleepers(&self.eventcounts[rank]);
        }
    }

    /// Sleeps until another rank wakes this one, at most `timeout_ns`, unless `happened` holds already.
    ///
    /// A process that dies in here leaves a count one too high. That costs looks at eventcounts, no more.
    pub fn sleep_unless(&self, me: usize, timeout_ns: u64, happened: impl FnMut() -> bool) {
        // Counted before the eventcount's own count and its fence: a rank that does not see this count has
        // raised its flag in time for `happened` to see it.
        let sleepers = self.memory.word(SLEEPERS_AT);
        sleepers.fetch_add(1, Ordering::SeqCst);
        eventcount::sleep_unless(&self.eventcounts[me], self.fencing, timeout_ns, happened);
        sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}
