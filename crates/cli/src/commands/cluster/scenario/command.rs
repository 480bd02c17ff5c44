//! Carries out `evenkeel cluster scenario`.

use super::arguments::{ScenarioArguments, ScenarioName};
use super::table;
use crate::commands::cluster::policies::PolicyName;
use crate::commands::cluster::record::Record;
use crate::errors::{ClusterError, CommandError};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use clap::ValueEnum;
use evenkeel_cluster_sim::{Communication, Outcome, Policy, Scenario, simulate};
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

/// Simulates every scenario under every policy, and returns what is printed.
pub fn scenario(arguments: &ScenarioArguments) -> Result<String, CommandError> {
    file::check_outputs(&[("--json", arguments.json.as_deref())], &[])?;
    let cluster = arguments.switching.cluster(Scenario::cluster());
    let scenarios = or_all(&arguments.scenarios);
    let policies = or_all(&arguments.policies);
    let communication = match arguments.overlap {
        true => Communication::OverlappedRing,
        false => Communication::Ring,
    };
    let progress = Progress::new("simulating", scenarios.len() * policies.len());
    let mut results = Vec::new();
    for scenario in scenarios.iter().copied().map(ScenarioName::scenario) {
        let jobs = scenario.jobs(&cluster, communication);
        for policy in policies.iter().copied().map(PolicyName::policy) {
            progress.show(format!("{}, {}", scenario.name(), policy.name()));
            let outcome = simulate(&cluster, policy, &jobs, &mut |share| progress.set_share(share))
                .map_err(ClusterError::from)?;
            results.push(result(scenario, policy, communication, &outcome));
            progress.finish_task();
        }
    }
    drop(progress);
    if let Some(json) = &arguments.json {
        file::write_json(json, &Record::new("cluster scenario", &cluster, &results))?;
    }
    Ok(table::text(&cluster, &results, terminal::width()))
}

fn or_all<Name: ValueEnum>(names: &[Name]) -> Vec<Name> {
    if names.is_empty() { Name::value_variants().to_vec() } else { names.to_vec() }
}

fn result(
    scenario: Scenario,
    policy: Policy,
    communication: Communication,
    outcome: &Outcome,
) -> ScenarioResult {
    let published = scenario.published(policy, communication);
    let letter = |class: &Class| match class {
        Class::CS => 'c',
        Class::F => 'f',
        Class::DC => 'd',
    };
    let classes = || outcome.jobs.iter().map(|job| job.classes.iter().map(letter).collect()).collect();
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
