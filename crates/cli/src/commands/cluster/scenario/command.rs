//! Carries out `evenkeel cluster scenario`.

use super::arguments::{ScenarioArguments, ScenarioName};
use super::result::ScenarioResult;
use super::table;
use crate::commands::cluster::record::Record;
use crate::errors::{ClusterError, CommandError};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use clap::ValueEnum;
use evenkeel_cluster_sim::{Communication, Policy, Scenario, simulate};

/// Simulates every scenario under every policy, and returns what is printed.
pub fn scenario(arguments: &ScenarioArguments) -> Result<String, CommandError> {
    file::check_outputs(&[("--json", arguments.json.as_deref())], &[])?;
    let cluster = arguments.switching.cluster(Scenario::cluster());
    let scenarios = or_all(&arguments.scenarios, ScenarioName::value_variants());
    let policies = or_all(&arguments.policies, &Policy::ALL);
    let communication = match arguments.overlap {
        true => Communication::OverlappedRing,
        false => Communication::Ring,
    };
    let progress = Progress::new("simulating", scenarios.len() * policies.len());
    let mut results = Vec::new();
    for scenario in scenarios.iter().copied().map(ScenarioName::scenario) {
        let jobs = scenario.jobs(&cluster, communication);
        for policy in policies.iter().copied() {
            progress.show(format!("{}, {}", scenario.name(), policy.name()));
            let outcome = simulate(&cluster, policy, &jobs, &mut |share| progress.set_share(share))
                .map_err(ClusterError::from)?;
            results.push(ScenarioResult::new(scenario, policy, communication, &outcome));
            progress.finish_task();
        }
    }
    drop(progress);
    if let Some(json) = &arguments.json {
        file::write_json(json, &Record::new("cluster scenario", &cluster, &results))?;
    }
    Ok(table::text(&cluster, &results, terminal::width()))
}

fn or_all<'a, Name>(names: &'a [Name], all: &'a [Name]) -> &'a [Name] {
    if names.is_empty() { all } else { names }
}
