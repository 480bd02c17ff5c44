//! Whether other processes want the cores. A rank that yields to one loses a time slice, while a rank that
//! sleeps is scheduled soon after its wake-up. So a rank that has lost its core in yields again and again
//! sleeps instead for a while.
//!
//! A leaky bucket decides: it fills with the time that yields have lost, and drains at a small share of the
//! time that passes. Ranks that only wait for each other lose little, and it stays below its mark.

use crate::clock::{Clock, Ticks};
use std::sync::atomic::{AtomicU64, Ordering};

/// What this process has seen of other processes that want its core. Threads may note losses at the same
/// time; one of them may then be missing.
#[derive(Default)]
pub struct Crowding {
    /// Ticks until which the bucket is not empty.
    full_until: AtomicU64,
}

/// A yield that takes longer has lost the core to a process that does not wait, or to a rank that works for
/// long.
const LOST_NS: u64 = 1_000_000;
/// One loss counts for no more: while programs start, a single one takes long.
const MOST_COUNTED_NS: u64 = 2_000_000;
/// So much lost time is too much: two losses.
const MARK_NS: u64 = 2 * MOST_COUNTED_NS;
/// The bucket holds no more: the rank tries again soon after the others have gone.
const CAPACITY_NS: u64 = 8_000_000;
/// The bucket drains at this share of the time, which is about what yields may lose.
const DRAIN: u64 = 32;

impl Crowding {
    /// Yields the core, and notes what that cost.
    pub fn yield_core(&self, clock: Clock) {
        self.yield_core_at(clock.now(), clock);
    }

    /// The same; the caller has read the clock.
    pub fn yield_core_at(&self, now: Ticks, clock: Clock) {
        yield_now();
        self.yielded(now, clock.now(), clock);
    }

    /// Returns whether a rank will probably lose its core if it yields now.
    pub fn is_crowded(&self, clock: Clock) -> bool {
        self.is_crowded_at(clock.now(), clock)
    }

    /// The same at `now`.
    #[inline]
    pub fn is_crowded_at(&self, now: Ticks, clock: Clock) -> bool {
        clock.ns_between(now, Ticks(self.full_until.load(Ordering::Relaxed))) > MARK_NS * DRAIN
    }

    fn yielded(&self, began: Ticks, ended: Ticks, clock: Clock) {
        let lost_ns = clock.ns_between(began, ended);
        if lost_ns < LOST_NS {
            return;
        }
        let ticks_of =
            |ns: u64| (u128::from(ended.0 - began.0) * u128::from(ns) / u128::from(lost_ns)) as u64;
        let from = self.full_until.load(Ordering::Relaxed).max(ended.0);
        let filled = from + ticks_of(lost_ns.min(MOST_COUNTED_NS) * DRAIN);
        let until = filled.min(ended.0 + ticks_of(CAPACITY_NS * DRAIN));
        self.full_until.store(until, Ordering::Relaxed);
    }
}

/// Yields the core to other processes.
pub fn yield_now() {
    // SAFETY: the function takes no arguments and has no preconditions.
    unsafe { libc::sched_yield() };
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Clock = Clock::MONOTONIC;

    /// A rank that yields whenever it may, for a second. Each yield loses `lost_ns`, and the rank does
    /// something else for `between_ns` after it. Returns how much time the yields have lost.
    fn lost_by_yields(lost_ns: u64, between_ns: u64) -> u64 {
        let (crowding, mut now, mut lost) = (Crowding::default(), 0, 0);
        while now < 1_000_000_000 {
            if !crowding.is_crowded_at(Ticks(now), CLOCK) {
                crowding.yielded(Ticks(now), Ticks(now + lost_ns), CLOCK);
                now += lost_ns;
                lost += lost_ns;
            }
            now += between_ns;
        }
        lost
    }

    #[test]
    fn yields_lose_a_small_share_of_the_time() {
        for slice_ns in [1_500_000, 3_000_000, 4_000_000] {
            let lost = lost_by_yields(slice_ns, 10_000);
            assert!(lost < 80_000_000, "{lost} of a second, {slice_ns} each");
        }
    }

    #[test]
    fn ranks_that_only_wait_for_each_other_yield_always() {
        assert!(lost_by_yields(900_000, 1_000) > 990_000_000);
        // A process of the system now and then.
        let lost = lost_by_yields(1_000_000, 50_000_000);
        assert!((19_000_000..21_000_000).contains(&lost), "{lost}: every time");
    }

    #[test]
    fn two_losses_are_not_enough_and_what_was_lost_is_forgotten() {
        let crowding = Crowding::default();
        crowding.yielded(Ticks(0), Ticks(3_000_000), CLOCK);
        crowding.yielded(Ticks(3_000_000), Ticks(9_000_000), CLOCK);
        assert!(!crowding.is_crowded_at(Ticks(9_000_000), CLOCK));
        for _ in 0..100 {
            crowding.yielded(Ticks(10_000_000), Ticks(13_000_000), CLOCK);
        }
        assert!(crowding.is_crowded_at(Ticks(140_000_000), CLOCK));
        assert!(!crowding.is_crowded_at(Ticks(142_000_000), CLOCK));
    }
}
