//! One scenario under one policy.

use evenkeel_cluster_sim::{Communication, Outcome, Policy, Scenario};
use evenkeel_gang::Class;
use serde::Serialize;

/// One scenario under one policy.
#[derive(Debug, Serialize)]
pub struct ScenarioResult {
    /// The scenario.
    pub scenario: &'static str,
    /// The policy.
    pub policy: &'static str,
    /// From the start to the last end.
    pub turnaround_s: f64,
    /// The mean of all jobs.
    pub mean_response_s: f64,
    /// The work of the busiest core.
    pub optimum_s: f64,
    /// The published turnaround.
    pub published_turnaround_s: Option<f64>,
    /// The published mean response.
    pub published_mean_response_s: Option<f64>,
    /// The classes of the ranks of each job, under flexible coscheduling.
    pub classes: Option<Vec<String>>,
    /// Events that were simulated.
    pub events: u64,
}

impl ScenarioResult {
    /// The result of an outcome.
    pub fn new(
        scenario: Scenario,
        policy: Policy,
        communication: Communication,
        outcome: &Outcome,
    ) -> ScenarioResult {
        let published = scenario.published(policy, communication);
        let symbol = |class: &Class| match class {
            Class::CS => 'c',
            Class::F => 'f',
            Class::DC => 'd',
        };
        let classes = || outcome.jobs.iter().map(|job| job.classes.iter().map(symbol).collect()).collect();
        ScenarioResult {
            scenario: scenario.name(),
            policy: policy.name(),
            turnaround_s: outcome.turnaround_ns() as f64 / 1e9,
            mean_response_s: outcome.mean_response_ns() / 1e9,
            optimum_s: scenario.optimum_s(),
            published_turnaround_s: published.map(|published| published.turnaround_s),
            published_mean_response_s: published.map(|published| published.mean_response_s),
            classes: (policy == Policy::Fcs).then(classes),
            events: outcome.events,
        }
    }
}
