//! What this rank did between barriers that it left pending, and which of them are timed.
//!
//! The deferred fast path reads no clock. It is left every [`STRETCH`] barriers, and for a while after work
//! of [`WORTH_NS`](super::lateness::WORTH_NS) or more, so that a rank that is late has each of its barriers
//! timed.

use crate::clock::Ticks;
use crate::record::tally::Tallies;

/// Every so many barriers are timed in any case, the same ones on all ranks.
pub(super) const STRETCH: u64 = 64;
/// The first barriers are all timed.
const FIRST: u64 = 16;
/// For so many barriers after work that was noted, each barrier is timed.
pub(super) const ATTENTIVE: u64 = 16;

/// What this rank did between the barriers of one communicator.
pub(crate) struct Work {
    /// All ranks have left another operation together since the latest barrier.
    pub(crate) left_together: bool,
    /// When the latest timed barrier was entered.
    pub(super) since: Ticks,
    /// How long this process had waited in all by then.
    pub(super) waited: Ticks,
    /// The number of the barrier after the latest timed one.
    pub(super) next: u64,
    /// All barriers below this number are timed.
    pub(super) attentive_until: u64,
    /// How many instances, and how many operations that ranks leave together, there had been by then.
    instances: u64,
    together: u64,
}

impl Default for Work {
    fn default() -> Work {
        Work {
            left_together: true, // the call that made the communicator
            since: Ticks(0),
            waited: Ticks(0),
            next: 0,
            attentive_until: FIRST,
            instances: 0,
            together: 0,
        }
    }
}

impl Work {
    /// Returns whether the barrier after `number` must be timed.
    #[inline(always)]
    pub(crate) fn times_next(&self, number: u64) -> bool {
        number + 1 < self.attentive_until
    }

    /// Returns whether all ranks have left some operation together since the latest barrier, and forgets
    /// that.
    pub(super) fn take_left_together(&mut self, instances: u64, tallies: &Tallies) -> bool {
        if self.instances != instances {
            let together = tallies.left_together();
            self.left_together |= together != self.together;
            (self.instances, self.together) = (instances, together);
        }
        std::mem::take(&mut self.left_together)
    }
}

/// The first barrier from number `next` on that is timed in any case.
#[inline(always)]
pub(super) fn next_timed(next: u64) -> u64 {
    next.next_multiple_of(STRETCH)
}

/// Returns whether the duration of barrier `number` is a sample.
#[inline(always)]
pub(super) fn is_sampled(number: u64) -> bool {
    number < FIRST || number % STRETCH == 0
}
