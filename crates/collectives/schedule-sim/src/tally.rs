//! Counts what happens while a simulation runs.

use crate::outcome::{Call, LateRank, Outcome, Spread};
use crate::time::VirtualTime;
use hdrhistogram::Histogram;

/// Counts what happens while a simulation runs.
pub struct Tally {
    /// Messages that arrived.
    pub messages: u64,
    /// Calls that ranks completed.
    pub calls: u64,
    /// Ranks that died.
    pub dead: u32,
    ranks: u32,
    of_calls: Vec<Call>,
    held: Sample,
    /// For each rank that was late: the calls it delayed, and their picoseconds.
    late: Vec<(u64, u64)>,
}

/// Significant digits of the histogram: a relative error of a thousandth.
const DIGITS: u8 = 3;
/// The number of late ranks that an outcome names.
const SHOWN: usize = 10;

impl Tally {
    /// Nothing has happened.
    pub fn new(ranks: u32, iterations: u32) -> Tally {
        let none = Call {
            first_entered: VirtualTime::NEVER,
            last_entered: VirtualTime::ZERO,
            first_done: VirtualTime::NEVER,
            done: VirtualTime::ZERO,
            ranks_done: 0,
        };
        Tally {
            messages: 0,
            calls: 0,
            dead: 0,
            ranks,
            of_calls: vec![none; iterations as usize],
            held: Sample::new(),
            late: vec![(0, 0); ranks as usize],
        }
    }

    /// A rank enters a call.
    #[inline]
    pub fn enters(&mut self, epoch: u32, time: VirtualTime) {
        let call = &mut self.of_calls[epoch as usize - 1];
        call.first_entered = call.first_entered.min(time);
        call.last_entered = call.last_entered.max(time);
    }

    /// The steps of a rank for a call are done.
    #[inline]
    pub fn done(&mut self, epoch: u32, time: VirtualTime) {
        let call = &mut self.of_calls[epoch as usize - 1];
        call.first_done = call.first_done.min(time);
        call.done = call.done.max(time);
        call.ranks_done += 1;
        self.calls += 1;
    }

    /// A rank leaves a call. `origin` is the rank whose lateness made it wait, itself if it did not wait.
    #[inline]
    pub fn leaves(&mut self, entered: VirtualTime, left: VirtualTime, rank: u32, origin: u32) {
        let held = (left - entered).ps();
        self.held.add(held);
        if origin != rank {
            let late = &mut self.late[origin as usize];
            *late = (late.0 + 1, late.1 + held);
        }
    }

    /// What the simulation found.
    pub fn outcome(&self) -> Outcome {
        let complete = |call: &&Call| call.ranks_done == self.ranks;
        let mut completion = Sample::new();
        for call in self.of_calls.iter().filter(complete) {
            completion.add(call.done.saturating_sub(call.last_entered).ps());
        }
        let mut late: Vec<LateRank> = (0..)
            .zip(&self.late)
            .filter(|(_, (calls, _))| *calls > 0)
            .map(|(rank, (calls, held))| LateRank { rank, calls: *calls, held: VirtualTime::from_ps(*held) })
            .collect();
        late.sort_by_key(|l| (std::cmp::Reverse(l.held), l.rank));
        late.truncate(SHOWN);
        Outcome {
            messages: self.messages,
            end: self.of_calls.iter().map(|c| c.done).max().unwrap_or(VirtualTime::ZERO),
            calls: self.of_calls.iter().filter(|c| c.first_entered != VirtualTime::NEVER).copied().collect(),
            held: self.held.spread(),
            completion: completion.spread(),
            late,
            stuck: u64::from(self.ranks) * self.of_calls.len() as u64 - self.calls,
            dead: self.dead,
        }
    }
}

/// The mean and the maximum exactly, quantiles from a histogram.
struct Sample {
    of: Histogram<u64>,
    sum: u128,
    most: u64,
}

impl Sample {
    fn new() -> Sample {
        Sample { of: Histogram::new(DIGITS).expect("three digits are possible"), sum: 0, most: 0 }
    }

    fn add(&mut self, ps: u64) {
        self.of.record(ps).expect("the histogram grows by itself");
        self.sum += u128::from(ps);
        self.most = self.most.max(ps);
    }

    fn spread(&self) -> Spread {
        let at = |quantile: f64| VirtualTime::from_ps(self.of.value_at_quantile(quantile).min(self.most));
        Spread {
            mean: VirtualTime::from_ps((self.sum / u128::from(self.of.len().max(1))) as u64),
            median: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: VirtualTime::from_ps(self.most),
        }
    }
}
