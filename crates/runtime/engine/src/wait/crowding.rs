//! Whether other processes want the cores. A rank that yields to one loses a time slice, while a rank that
//! sleeps is scheduled soon after its wake-up. So a rank that has lost its core in a yield sleeps instead
//! for a while.

use super::pause::yield_now;
use crate::clock::{Clock, Ticks};
use std::sync::atomic::{AtomicU64, Ordering};

/// What this process has seen of other processes that want its core.
#[derive(Default)]
pub struct Crowding {
    /// Ticks until which the rank does not yield.
    until: AtomicU64,
}

/// A yield that takes longer has lost the core to a process that does not wait.
const LOST_NS: u64 = 500_000;

/// The rank does not yield again for this many times what it lost.
const REST: u64 = 32;

impl Crowding {
    /// Yields the core, and notes what that cost.
    pub fn yield_core(&self, clock: Clock) {
        let began = clock.now();
        yield_now();
        self.yielded(began, clock.now(), clock);
    }

    /// Returns whether a rank loses its core if it yields now.
    pub fn is_crowded(&self, clock: Clock) -> bool {
        self.is_crowded_at(clock.now())
    }

    fn is_crowded_at(&self, now: Ticks) -> bool {
        now.0 < self.until.load(Ordering::Relaxed)
    }

    fn yielded(&self, began: Ticks, ended: Ticks, clock: Clock) {
        if clock.ns_between(began, ended) > LOST_NS {
            self.until.store(ended.0 + REST * (ended.0 - began.0), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_that_lost_its_core_does_not_yield_for_a_while() {
        let crowding = Crowding::default();
        crowding.yielded(Ticks(0), Ticks(200_000), Clock::MONOTONIC);
        assert!(!crowding.is_crowded_at(Ticks(200_000)), "other ranks that wait take their turns");
        crowding.yielded(Ticks(1_000_000), Ticks(3_000_000), Clock::MONOTONIC);
        assert!(crowding.is_crowded_at(Ticks(66_999_999)));
        assert!(!crowding.is_crowded_at(Ticks(67_000_000)));
    }
}
