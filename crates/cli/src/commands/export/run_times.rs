//! The times of all ranks of a run, on one clock.

use crate::errors::FileError;
use crate::launch::trace_folder;
use evenkeel_trace::times::clock::{self, Clock};
use evenkeel_trace::times::file::{Call, Times};
use std::path::Path;

/// The files of a run.
pub(super) struct RunTimes {
    /// By rank.
    pub(super) ranks: Vec<Times>,
    clocks: Vec<Clock>,
    /// By rank: what is to be added to its clock, ns. Clocks of several hosts differ by what their clocks of
    /// the day differ.
    offsets: Vec<i64>,
    /// When the first rank began, ns.
    begins: i64,
    /// Hosts whose clocks were not compared.
    pub(super) hosts: usize,
}

impl RunTimes {
    /// Reads a folder.
    pub(super) fn read(folder: &Path) -> Result<RunTimes, FileError> {
        Ok(RunTimes::of(trace_folder::times(folder)?))
    }

    fn of(ranks: Vec<Times>) -> RunTimes {
        let clocks: Vec<Clock> = ranks.iter().map(Times::clock).collect();
        let (offsets, hosts) = clock::offsets(ranks.iter().map(|times| &times.start));
        let mut run = RunTimes { ranks, clocks, offsets, begins: 0, hosts };
        let first = |rank: usize| run.ns(rank, run.ranks[rank].start.before_init.ticks);
        run.begins = (0..run.ranks.len()).map(first).min().unwrap_or(0);
        run
    }

    /// Nanoseconds since the first rank began.
    pub(super) fn ns(&self, rank: usize, ticks: u64) -> i64 {
        (self.clocks[rank].ns(ticks) as i64).wrapping_add(self.offsets[rank]).wrapping_sub(self.begins)
    }

    /// When a call began, and how long it took, ns.
    pub(super) fn span(&self, rank: usize, call: &Call) -> (i64, i64) {
        let begin = self.ns(rank, call.entry);
        (begin, (self.ns(rank, call.exit) - begin).max(0))
    }

    /// When a rank has left its last call, or entered the one that it did not leave.
    pub(super) fn end(&self, rank: usize) -> i64 {
        let times = &self.ranks[rank];
        let last = times.calls.iter().map(|call| call.exit).max().unwrap_or(times.start.opened.ticks);
        let open = times.open.as_ref().map_or(0, |open| open.entry);
        self.ns(rank, last.max(open))
    }

    /// When the last rank has ended, ns.
    pub(super) fn length(&self) -> i64 {
        (0..self.ranks.len()).map(|rank| self.end(rank)).max().unwrap_or(0)
    }
}
