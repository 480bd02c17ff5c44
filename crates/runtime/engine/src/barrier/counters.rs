//! One rank's counters of the barriers of one communicator.

use super::benefit::Benefit;
use super::trial::{Advice, CLOCK_INTERVAL, Trial};
use super::work::Work;
use crate::clock::Ticks;
use crate::record::tally::Tallies;
use evenkeel_spanning::CollectiveKind;

/// One rank's counters of the barriers of one communicator.
#[derive(Default)]
pub struct BarrierCounters {
    /// How many barriers this rank has entered.
    pub(crate) entered: u64,
    /// How many are known to be complete. Barriers are entered in order, so these are the first ones.
    pub(crate) known: u64,
    /// Deferred barriers below this number may take the fast path.
    pub(crate) fast_path_limit: u64,
    /// The value of `entered` when the fast path was opened. Barriers since then are not in the tallies
    /// yet.
    pub(crate) fast_path_from: Option<u64>,
    /// What this rank did between barriers.
    pub(crate) work: Work,
    /// When the oldest pending barrier was entered.
    pub(crate) pending_since: Ticks,
    /// `quick` counts barriers of two ranks in which the other rank came soon, `quick_last` those in which
    /// it was there first. They are not in the tallies, so that they share a cache line that is in use
    /// anyway.
    pub(crate) quick: u64,
    pub(crate) quick_last: u64,
    /// Barriers that ran by a schedule and were not sampled; not in the tallies for the same reason.
    pub(crate) scheduled: u64,
    /// The value of `entered` after the latest sampled barrier that ran by a schedule.
    pub(crate) sampled: u64,
    /// The latest advice that this rank has seen.
    pub(crate) advice: Option<Advice>,
    /// The trial; only rank 0 runs it.
    pub(crate) trial: Trial,
    /// What this rank gains by leaving barriers pending.
    pub(crate) benefit: Benefit,
    /// Barriers below this number wait, where deferral is adaptive.
    pub(crate) waits_until: u64,
}

impl BarrierCounters {
    /// Barriers that this rank has entered and that are not known to be complete.
    #[inline(always)]
    pub(crate) fn pending(&self) -> u64 {
        self.entered - self.known
    }

    /// Returns whether member `me` waits for its next barrier, without a look at the advice.
    #[inline(always)]
    pub(crate) fn waits_at_once(&self, me: usize) -> bool {
        self.entered < self.waits_until && !self.is_reading_due(me)
    }

    /// Returns whether member `me` leads the trial and reads the clock for it before its next barrier.
    #[inline(always)]
    pub(crate) fn is_reading_due(&self, me: usize) -> bool {
        me == 0 && self.entered % CLOCK_INTERVAL == 0
    }

    /// Counts a barrier and returns its number.
    #[inline(always)]
    pub(crate) fn enter(&mut self) -> u64 {
        self.entered += 1;
        self.entered - 1
    }

    /// Counts a barrier that is never left pending and returns its number.
    #[inline(always)]
    pub(crate) fn enter_and_pass(&mut self) -> u64 {
        self.entered += 1;
        self.known = self.entered;
        self.entered - 1
    }

    /// Records a sample. Returns how many barriers there were since the previous one, including this one.
    pub(crate) fn note_sample(&mut self, number: u64) -> u64 {
        number + 1 - std::mem::replace(&mut self.sampled, number + 1)
    }

    /// Lets the barriers below number `limit` take the fast path.
    #[inline(always)]
    pub(crate) fn open_fast_path(&mut self, limit: u64) {
        self.fast_path_limit = limit;
        self.fast_path_from = Some(self.entered);
    }

    /// Adds the barriers that took the fast path to the tallies. Must be called before barriers are entered
    /// on any other path, and before they are known to be complete.
    #[inline(always)]
    pub(crate) fn count_fast_path(&mut self, tallies: &mut Tallies, recording: bool) {
        if let Some(from) = self.fast_path_from.take().filter(|&from| recording && from < self.entered) {
            let tally = tallies.of(CollectiveKind::Barrier, false);
            tally.calls += self.entered - from;
            tally.deferred += self.entered - from;
            tally.ahead = tally.ahead.max(self.entered - self.known);
        }
    }

    /// Moves all separate counters into the tallies.
    pub(crate) fn settle(&mut self, tallies: &mut Tallies) {
        let is_open = self.fast_path_from.is_some();
        self.count_fast_path(tallies, true);
        if is_open {
            self.fast_path_from = Some(self.entered);
        }
        if self.quick > 0 {
            let tally = tallies.of(CollectiveKind::Barrier, false);
            tally.calls += std::mem::take(&mut self.quick);
            tally.last += std::mem::take(&mut self.quick_last);
        }
        if self.scheduled > 0 {
            tallies.of(CollectiveKind::Barrier, false).calls += std::mem::take(&mut self.scheduled);
        }
    }
}
