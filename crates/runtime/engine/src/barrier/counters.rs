//! One rank's count of the barriers of one communicator.

use super::trial::{Advice, Trial};
use crate::clock::Ticks;
use crate::record::tally::Tallies;
use evenkeel_spanning::CollectiveKind;

/// One rank's count of the barriers of one communicator.
#[derive(Default)]
pub struct BarrierCounters {
    /// How many this rank has entered.
    pub(crate) entered: u64,
    /// How many are known to be complete. Barriers are entered in order, so these are the first ones.
    pub(crate) known: u64,
    /// Deferred barriers below this number may take the fast path.
    pub(crate) fast_path_limit: u64,
    /// How many had been entered when the fast path was opened: barriers since then are counted later.
    pub(crate) fast_path_from: Option<u64>,
    /// When the oldest pending one was entered.
    pub(crate) pending_since: Ticks,
    /// Barriers of two ranks that found the other one soon, and before how many of them it was there
    /// already. Kept apart from the tallies, on a cache line that is in use anyway.
    pub(crate) quick: u64,
    pub(crate) quick_last: u64,
    /// Barriers that ran by a schedule and were not sampled, kept apart for the same reason.
    pub(crate) scheduled: u64,
    /// How many had been entered when one that ran by a schedule was sampled last.
    pub(crate) sampled: u64,
    /// What the members are advised to do, as far as this rank has seen it.
    pub(crate) advice: Option<Advice>,
    /// The trial by rank 0.
    pub(crate) trial: Trial,
}

impl BarrierCounters {
    /// Barriers that were entered and are not known to be complete.
    #[inline(always)]
    pub(crate) fn pending(&self) -> u64 {
        self.entered - self.known
    }

    /// Counts a barrier; its number.
    #[inline(always)]
    pub(crate) fn enter(&mut self) -> u64 {
        self.entered += 1;
        self.entered - 1
    }

    /// Counts a barrier that is never left pending; its number.
    #[inline(always)]
    pub(crate) fn enter_and_pass(&mut self) -> u64 {
        self.entered += 1;
        self.known = self.entered;
        self.entered - 1
    }

    /// Takes note of a sample; how many barriers there were since the one before, this one included.
    pub(crate) fn note_sample(&mut self, number: u64) -> u64 {
        number + 1 - std::mem::replace(&mut self.sampled, number + 1)
    }

    /// From here on barriers may take the fast path, below number `limit`.
    #[inline(always)]
    pub(crate) fn open_fast_path(&mut self, limit: u64) {
        self.fast_path_limit = limit;
        self.fast_path_from = Some(self.entered);
    }

    /// Counts the barriers that have taken the fast path. To be called before barriers are entered in any
    /// other way, or are known to be complete.
    #[inline(always)]
    pub(crate) fn count_fast_path(&mut self, tallies: &mut Tallies, recording: bool) {
        if let Some(from) = self.fast_path_from.take().filter(|&from| recording && from < self.entered) {
            let tally = tallies.of(CollectiveKind::Barrier, false);
            tally.calls += self.entered - from;
            tally.deferred += self.entered - from;
            tally.ahead = tally.ahead.max(self.entered - self.known);
        }
    }

    /// Moves what is kept apart to the tallies.
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
