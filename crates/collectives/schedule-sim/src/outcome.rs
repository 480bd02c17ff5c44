//! What a simulation found: counted while it runs, put in numbers at its end.

use crate::time::VirtualTime;
use hdrhistogram::Histogram;
use serde::Serialize;

/// When a call of all ranks was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Call {
    #[serde(rename = "first_entered_ns")]
    pub first_entered: VirtualTime,
    #[serde(rename = "last_entered_ns")]
    pub last_entered: VirtualTime,
    /// When the first rank's steps were done. No barrier is right if that is before the last entered.
    #[serde(rename = "first_done_ns")]
    pub first_done: VirtualTime,
    /// When the last rank's steps were done.
    #[serde(rename = "done_ns")]
    pub done: VirtualTime,
    /// How many ranks' steps were done.
    pub ranks_done: u32,
}

/// Numbers of how something is distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    #[serde(rename = "mean_ns")]
    pub mean: VirtualTime,
    #[serde(rename = "median_ns")]
    pub median: VirtualTime,
    #[serde(rename = "p90_ns")]
    pub p90: VirtualTime,
    #[serde(rename = "p99_ns")]
    pub p99: VirtualTime,
    #[serde(rename = "p999_ns")]
    pub p999: VirtualTime,
    #[serde(rename = "max_ns")]
    pub max: VirtualTime,
}

/// A rank for which others waited: at the end of their chain of messages stood its lateness.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LateRank {
    pub rank: u32,
    /// How many calls of other ranks it held up.
    pub calls: u64,
    /// How long those ranks were in these calls, in sum.
    #[serde(rename = "held_ns")]
    pub held: VirtualTime,
}

/// What there is to be told of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Messages that arrived, answers of counters among them.
    pub messages: u64,
    /// When the last call that was completed at all was done.
    #[serde(rename = "end_ns")]
    pub end: VirtualTime,
    pub calls: Vec<Call>,
    /// How long ranks were in a call.
    pub held: Spread,
    /// From when the last rank entered a call until the last rank's steps were done; calls that were
    /// completed.
    pub completion: Spread,
    /// Whom the others waited for most, ten at most, the worst first.
    pub late: Vec<LateRank>,
    /// Calls that ranks did not come through, because a rank was dead.
    pub stuck: u64,
    /// Ranks that died.
    pub dead: u32,
}

/// Counts while a simulation runs.
pub struct Tally {
    pub messages: u64,
    pub calls: u64,
    pub dead: u32,
    ranks: u32,
    of_calls: Vec<Call>,
    held: Sample,
    /// By the rank that was late: calls, and picoseconds.
    late: Vec<(u64, u64)>,
}

/// Relative width of the classes of a histogram: a thousandth.
const DIGITS: u8 = 3;
const SHOWN: usize = 10;

impl Tally {
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

    #[inline]
    pub fn enters(&mut self, epoch: u32, time: VirtualTime) {
        let call = &mut self.of_calls[epoch as usize - 1];
        call.first_entered = call.first_entered.min(time);
        call.last_entered = call.last_entered.max(time);
    }

    #[inline]
    pub fn done(&mut self, epoch: u32, time: VirtualTime) {
        let call = &mut self.of_calls[epoch as usize - 1];
        call.first_done = call.first_done.min(time);
        call.done = call.done.max(time);
        call.ranks_done += 1;
        self.calls += 1;
    }

    #[inline]
    pub fn leaves(&mut self, entered: VirtualTime, left: VirtualTime, rank: u32, origin: u32) {
        let held = (left - entered).ps();
        self.held.add(held);
        if origin != rank {
            let late = &mut self.late[origin as usize];
            *late = (late.0 + 1, late.1 + held);
        }
    }

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

/// Mean and maximum exactly, quantiles by a histogram.
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
