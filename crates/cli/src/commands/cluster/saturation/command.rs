//! Carries out `evenkeel cluster saturation`.

use super::arguments::SaturationArguments;
use super::point::LoadPoint;
use super::{plot, table};
use crate::commands::cluster::parallel::run_all;
use crate::commands::cluster::record::Record;
use crate::errors::{ClusterError, CommandError};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_cluster_sim::{Cluster, Outcome, Policy, Workload, simulate};

/// Simulates every policy at every load with every seed, writes the files that were asked for, and returns
/// what is printed.
pub fn saturation(arguments: &SaturationArguments) -> Result<String, CommandError> {
    let outputs = [("--json", arguments.json.as_deref()), ("--plot", arguments.plot.as_deref())];
    file::check_outputs(&outputs, &[])?;
    if let Some(pair) = arguments.loads.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(ClusterError::Loads { before: pair[0], after: pair[1] }.into());
    }
    let cluster = arguments.machine.cluster();
    let points = points(arguments, &cluster)?;
    let mut written = String::new();
    if let Some(json) = &arguments.json {
        let records: Vec<_> = points.iter().map(LoadPoint::record).collect();
        file::write_json(json, &Record::new("cluster saturation", &cluster, &records))?;
    }
    if let Some(picture) = &arguments.plot {
        file::write(picture, &plot::svg(&points)?)?;
        written = format!("\n{}\n", file::written_for_browser(picture));
    }
    Ok(table::text(arguments, &cluster, &points, terminal::width()) + &written)
}

fn points(arguments: &SaturationArguments, cluster: &Cluster) -> Result<Vec<LoadPoint>, ClusterError> {
    let policies = &arguments.policies;
    let loads = &arguments.loads;
    let seeds = arguments.seed..arguments.seed.saturating_add(arguments.seeds);
    let of_policy = |policy: Policy| {
        let seeds = seeds.clone();
        loads.iter().flat_map(move |load| seeds.clone().map(move |seed| (policy, *load, seed)))
    };
    let tasks: Vec<(Policy, f64, u64)> = policies.iter().copied().flat_map(of_policy).collect();
    let progress = Progress::new("simulating", tasks.len());
    let outcomes = run_all(&tasks, arguments.threads, &progress, |(policy, load, seed)| {
        let published = Workload::published(cluster.cores, Some(*load), *seed);
        let jobs = Workload { jobs: arguments.jobs, ..published }.jobs(cluster.latency_ns);
        Ok(simulate(cluster, *policy, &jobs, &mut |_| {})?)
    })?;
    let cells: Vec<&[Outcome]> = outcomes.chunks(seeds.count()).collect();
    let point = |(at, outcomes): (usize, &&[Outcome])| {
        let (policy, load) = (policies[at / loads.len()], at % loads.len());
        LoadPoint::new(policy, loads[load], outcomes, cells[load])
    };
    Ok(cells.iter().enumerate().map(point).collect())
}
