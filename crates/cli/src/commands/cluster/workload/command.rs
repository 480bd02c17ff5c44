//! Carries out `evenkeel cluster workload`.

use super::arguments::WorkloadArguments;
use super::table;
use crate::commands::cluster::parallel::run_all;
use crate::commands::cluster::record::{IntervalRecord, Record};
use crate::errors::CommandError;
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_cluster_sim::{Interval, Outcome, Policy, Workload, simulate};
use serde::Serialize;
use std::time::Instant;

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

/// The layout of a [`PolicyResult`] in `--json`.
#[derive(Serialize)]
struct PolicyRecord {
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

/// Simulates the workloads under every policy, and returns what is printed.
pub fn workload(arguments: &WorkloadArguments) -> Result<String, CommandError> {
    file::check_outputs(&[("--json", arguments.json.as_deref())], &[])?;
    let cluster = arguments.machine.cluster();
    let policies: Vec<Policy> = arguments.policies.iter().map(|name| name.policy()).collect();
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
        of_policies.map(|(policy, outcomes)| result(*policy, outcomes)).collect();
    if let Some(json) = &arguments.json {
        let records: Vec<PolicyRecord> = results.iter().map(|result| record(arguments, result)).collect();
        file::write_json(json, &Record::new("cluster workload", &cluster, &records))?;
    }
    Ok(table::text(arguments, &cluster, &results, terminal::width()))
}

fn result(policy: Policy, outcomes: &[(Outcome, f64)]) -> PolicyResult {
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

fn record(arguments: &WorkloadArguments, result: &PolicyResult) -> PolicyRecord {
    PolicyRecord {
        policy: result.policy,
        load: arguments.load,
        jobs: arguments.jobs,
        seeds: arguments.seeds,
        first_seed: arguments.seed,
        turnaround_s: result.turnaround_s.into(),
        mean_response_s: result.mean_response_s.into(),
        median_response_s: result.median_response_s.into(),
        mean_slowdown: result.mean_slowdown.into(),
        median_slowdown: result.median_slowdown.into(),
        utilisation: result.utilisation.into(),
        events: result.events,
    }
}
