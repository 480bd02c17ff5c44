//! What a policy made of the workloads.

use super::arguments::WorkloadArguments;
use crate::commands::cluster::record::IntervalRecord;
use evenkeel_cluster_sim::{Interval, Outcome, Policy};
use serde::Serialize;

/// Shorter jobs count as jobs of this length in slowdowns: 10 s of the model.
const SHORTEST_NS: u64 = 100_000_000;

/// What a policy made of the workloads, each a mean over seeds.
#[derive(Debug)]
pub struct PolicyResult {
    /// The policy.
    pub policy: &'static str,
    /// From the first submission to the last end.
    pub turnaround_s: Interval,
    /// The mean response.
    pub mean_response_s: Interval,
    /// The median response.
    pub median_response_s: Interval,
    /// The mean bounded slowdown.
    pub mean_slowdown: Interval,
    /// The median bounded slowdown.
    pub median_slowdown: Interval,
    /// The share of the cores' time in which they did work of jobs.
    pub utilisation: Interval,
    /// Events, of all seeds.
    pub events: u64,
    /// The time that the simulations took, of all seeds.
    pub seconds: f64,
}

impl PolicyResult {
    /// The result of the outcomes of all seeds, and of the time that each took.
    pub fn new(policy: Policy, outcomes: &[(Outcome, f64)]) -> PolicyResult {
        let interval = |of: &dyn Fn(&Outcome) -> f64| {
            Interval::of(&outcomes.iter().map(|(outcome, _)| of(outcome)).collect::<Vec<f64>>())
        };
        PolicyResult {
            policy: policy.name(),
            turnaround_s: interval(&|outcome| outcome.turnaround_ns() as f64 / 1e9),
            mean_response_s: interval(&|outcome| outcome.mean_response_ns() / 1e9),
            median_response_s: interval(&|outcome| outcome.median_response_ns() / 1e9),
            mean_slowdown: interval(&|outcome| outcome.mean_slowdown(SHORTEST_NS)),
            median_slowdown: interval(&|outcome| outcome.median_slowdown(SHORTEST_NS)),
            utilisation: interval(&Outcome::utilisation),
            events: outcomes.iter().map(|(outcome, _)| outcome.events).sum(),
            seconds: outcomes.iter().map(|(_, seconds)| seconds).sum(),
        }
    }

    /// The layout in `--json`.
    pub fn record(&self, arguments: &WorkloadArguments) -> PolicyRecord {
        PolicyRecord {
            policy: self.policy,
            load: arguments.load,
            jobs: arguments.jobs,
            seeds: arguments.seeds,
            first_seed: arguments.seed,
            turnaround_s: self.turnaround_s.into(),
            mean_response_s: self.mean_response_s.into(),
            median_response_s: self.median_response_s.into(),
            mean_slowdown: self.mean_slowdown.into(),
            median_slowdown: self.median_slowdown.into(),
            utilisation: self.utilisation.into(),
            events: self.events,
        }
    }
}

/// The layout of a [`PolicyResult`] in `--json`.
#[derive(Debug, Serialize)]
pub struct PolicyRecord {
    policy: &'static str,
    load: f64,
    jobs: usize,
    seeds: u64,
    first_seed: u64,
    turnaround_s: IntervalRecord,
    mean_response_s: IntervalRecord,
    median_response_s: IntervalRecord,
    mean_slowdown: IntervalRecord,
    median_slowdown: IntervalRecord,
    utilisation: IntervalRecord,
    events: u64,
}
