//! One policy at one load.

use crate::commands::cluster::record::IntervalRecord;
use evenkeel_cluster_sim::{Interval, Outcome, Policy};
use serde::Serialize;

/// A cluster keeps up that has put off no more than this share of its time.
const KEEPS_UP: f64 = 0.05;

/// What a policy made of a load, over seeds.
#[derive(Debug)]
pub struct LoadPoint {
    /// The policy.
    pub policy: &'static str,
    /// The load that is offered.
    pub offered: f64,
    /// The load that is carried.
    pub carried: Interval,
    /// What is carried beyond what the first policy carries of the same jobs.
    pub gain: Interval,
    /// The mean response.
    pub response_s: Interval,
    /// The share of seeds in which the cluster keeps up.
    pub keeps_up: f64,
    /// Events, of all seeds.
    pub events: u64,
}

impl LoadPoint {
    /// A point of its outcomes, one for each seed, and of those of the first policy.
    pub fn new(policy: Policy, offered: f64, outcomes: &[Outcome], first: &[Outcome]) -> LoadPoint {
        let carried = |outcome: &Outcome| outcome.offered_load() - outcome.deferred_load();
        let each: Vec<f64> = outcomes.iter().map(carried).collect();
        let gains: Vec<f64> = each.iter().zip(first).map(|(own, first)| own - carried(first)).collect();
        let responses: Vec<f64> = outcomes.iter().map(|outcome| outcome.mean_response_ns() / 1e9).collect();
        let keeping_up = outcomes.iter().filter(|outcome| outcome.keeps_up(KEEPS_UP)).count();
        LoadPoint {
            policy: policy.name(),
            offered,
            carried: Interval::of(&each),
            gain: Interval::of(&gains),
            response_s: Interval::of(&responses),
            keeps_up: keeping_up as f64 / outcomes.len().max(1) as f64,
            events: outcomes.iter().map(|outcome| outcome.events).sum(),
        }
    }

    /// The layout in `--json`.
    pub fn record(&self) -> PointRecord {
        PointRecord {
            policy: self.policy,
            offered: self.offered,
            carried: self.carried.into(),
            gain: self.gain.into(),
            mean_response_s: self.response_s.into(),
            keeps_up: self.keeps_up,
            events: self.events,
        }
    }
}

/// The layout of a [`LoadPoint`] in `--json`.
#[derive(Debug, Serialize)]
pub struct PointRecord {
    policy: &'static str,
    offered: f64,
    carried: IntervalRecord,
    /// What is carried beyond what the first policy carries of the same jobs.
    gain: IntervalRecord,
    mean_response_s: IntervalRecord,
    keeps_up: f64,
    events: u64,
}
