//! What a simulation found.

use crate::time::VirtualTime;
use serde::Serialize;

/// When the ranks entered a call and completed it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Call {
    /// When the first rank entered.
    #[serde(rename = "first_entered_ns")]
    pub first_entered: VirtualTime,
    /// When the last rank entered.
    #[serde(rename = "last_entered_ns")]
    pub last_entered: VirtualTime,
    /// When the first rank's steps were done. A barrier in which that is before the last rank entered is
    /// wrong.
    #[serde(rename = "first_done_ns")]
    pub first_done: VirtualTime,
    /// When the last rank's steps were done.
    #[serde(rename = "done_ns")]
    pub done: VirtualTime,
    /// The number of ranks whose steps were done.
    pub ranks_done: u32,
}

/// The distribution of a duration over many occurrences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    #[serde(rename = "mean_ns")]
    pub mean: VirtualTime,
    /// The median.
    #[serde(rename = "median_ns")]
    pub median: VirtualTime,
    /// The 90th percentile.
    #[serde(rename = "p90_ns")]
    pub p90: VirtualTime,
    /// The 99th percentile.
    #[serde(rename = "p99_ns")]
    pub p99: VirtualTime,
    /// The 99.9th percentile.
    #[serde(rename = "p999_ns")]
    pub p999: VirtualTime,
    /// The maximum.
    #[serde(rename = "max_ns")]
    pub max: VirtualTime,
}

/// A rank for which others waited: its lateness was the first cause of their waiting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LateRank {
    /// The rank.
    pub rank: u32,
    /// The number of calls of other ranks that it delayed.
    pub calls: u64,
    /// The sum of the times that those ranks spent in these calls.
    #[serde(rename = "held_ns")]
    pub held: VirtualTime,
}

/// What a simulation found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Messages that arrived, including the answers of counters.
    pub messages: u64,
    /// When the last completed call was done.
    #[serde(rename = "end_ns")]
    pub end: VirtualTime,
    /// All calls that a rank entered.
    pub calls: Vec<Call>,
    /// How long ranks were in a call.
    pub held: Spread,
    /// From when the last rank entered a call until the last rank's steps were done, for completed calls.
    pub completion: Spread,
    /// The ranks that others waited for longest, ten at most, the worst first.
    pub late: Vec<LateRank>,
    /// Calls that ranks did not complete because a rank was dead. Each rank counts by itself.
    pub stuck: u64,
    /// Ranks that died.
    pub dead: u32,
}
