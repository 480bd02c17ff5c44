//! Carries out `evenkeel cluster workload`.

use super::arguments::WorkloadArguments;
use super::result::{PolicyRecord, PolicyResult};
use super::table;
use crate::commands::cluster::parallel::run_all;
use crate::commands::cluster::record::Record;
use crate::errors::CommandError;
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_cluster_sim::{Policy, Workload, simulate};
use std::time::Instant;

/// Simulates the workloads under every policy, and returns what is printed.
pub fn workload(arguments: &WorkloadArguments) -> Result<String, CommandError> {
    file::check_outputs(&[("--json", arguments.json.as_deref())], &[])?;
    let cluster = arguments.machine.cluster();
    let policies = &arguments.policies;
    let seeds = arguments.seed..arguments.seed.saturating_add(arguments.seeds);
    let tasks: Vec<(Policy, u64)> =
        policies.iter().flat_map(|policy| seeds.clone().map(move |seed| (*policy, seed))).collect();
    let progress = Progress::new("simulating", tasks.len());
    let outcomes = run_all(&tasks, arguments.threads, &progress, |(policy, seed)| {
        let load = Some(arguments.load);
        let published = Workload::published(cluster.cores, load, *seed);
        let jobs = Workload { jobs: arguments.jobs, ..published }.jobs(cluster.latency_ns);
        let begun = Instant::now();
        let outcome = simulate(&cluster, *policy, &jobs, &mut |_| {})?;
        Ok((outcome, begun.elapsed().as_secs_f64()))
    })?;
    drop(progress);
    let of_policies = policies.iter().zip(outcomes.chunks(seeds.count()));
    let results: Vec<PolicyResult> =
        of_policies.map(|(policy, outcomes)| PolicyResult::new(*policy, outcomes)).collect();
    if let Some(json) = &arguments.json {
        let records: Vec<PolicyRecord> = results.iter().map(|result| result.record(arguments)).collect();
        file::write_json(json, &Record::new("cluster workload", &cluster, &records))?;
    }
    Ok(table::text(arguments, &cluster, &results, terminal::width()))
}
