//! Carries out `evenkeel cluster scenario`.

use super::arguments::{ScenarioArguments, ScenarioName};
use super::result::ScenarioResult;
use super::table;
use crate::commands::cluster::policies::PolicyName;
use crate::commands::cluster::record::Record;
use crate::errors::{ClusterError, CommandError};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use clap::ValueEnum;
use evenkeel_cluster_sim::{Communication, Scenario, simulate};

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

fn or_all<Name: ValueEnum>(names: &[Name]) -> Vec<Name> {
    if names.is_empty() { Name::value_variants().to_vec() } else { names.to_vec() }
}
