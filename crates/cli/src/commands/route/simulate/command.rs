//! Carries out `evenkeel route simulate`.

use super::arguments::SimulateArguments;
use super::result::{Record, RoutedCase, SeedRun};
use super::routes::{self, RoutedNetwork};
use super::{curves, map, table};
use crate::errors::{CommandError, RouteError, RouteReason};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_switch_sim::{
    Experiment, Interval, Parameters, SimulationError, StoppingRules, Traffic, run_parallel, throughput,
};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// If no loads are given, each next load offers so many times as much traffic.
const LOAD_STEP: f64 = 1.2;
/// The first load offers this share of what one phit per cycle into every switch would be.
const FIRST_SHARE: f64 = 0.05;

/// Simulates all networks, schemes and seeds, writes the files that were asked for, and returns what is
/// printed.
pub fn simulate(arguments: &SimulateArguments) -> Result<String, CommandError> {
    let outputs = &[
        ("--json", arguments.runs.json.as_deref()),
        ("--plot", arguments.plot.as_deref()),
        ("--map", arguments.map.as_deref()),
    ];
    let inputs: Vec<&Path> = arguments.networks.iter().chain(&arguments.lfts).map(PathBuf::as_path).collect();
    file::check_outputs(outputs, &inputs)?;
    let parameters = arguments.parameters();
    parameters.check().map_err(|e| RouteError::Simulate(RouteReason::Parameters(e.to_string())))?;
    if arguments.load.iter().any(|load| !(*load > 0.0 && *load <= 1.0)) {
        return Err(RouteError::Simulate(RouteReason::Load).into());
    }
    let routed = routes::read_and_route(arguments, &parameters)?;
    let rules =
        StoppingRules { warm_up: arguments.warm_up, precision: arguments.precision, ..StoppingRules::USUAL };
    let begun = Instant::now();
    let runs = run_all(arguments, &routed, parameters, rules);
    let seconds = begun.elapsed().as_secs_f64();
    let cases: Vec<RoutedCase> =
        routed.iter().zip(runs).map(|(routed, runs)| routed_case(routed, runs)).collect();
    let mut text = table::text(&cases, seconds, terminal::width());
    if let Some(json) = &arguments.runs.json {
        file::write_json(json, &Record::new(arguments, &parameters, &rules, &cases))?;
    }
    if let Some(picture) = &arguments.plot {
        file::write(picture, &curves::svg(&cases).map_err(RouteError::Simulate)?)?;
        text += &format!("\n{}\n", file::written_for_browser(picture));
    }
    if let Some(picture) = &arguments.map {
        let wirings: Vec<_> = routed.iter().map(|routed| &routed.wiring).collect();
        file::write(picture, &map::svg(&cases, &wirings).map_err(RouteError::Simulate)?)?;
        text += &format!("\n{}\n", file::written_for_browser(picture));
    }
    Ok(text)
}

/// Simulates every routed network with every seed, several at a time; the runs of each network.
fn run_all(
    arguments: &SimulateArguments,
    routed: &[RoutedNetwork],
    parameters: Parameters,
    rules: StoppingRules,
) -> Vec<Vec<SeedRun>> {
    let seeds = u64::from(arguments.seeds.max(1));
    let jobs: Vec<(usize, u64)> = (0..routed.len())
        .flat_map(|at| (0..seeds).map(move |number| (at, arguments.seed + number)))
        .collect();
    let progress = Progress::new("simulating", jobs.len());
    let run_job = |(at, seed): &(usize, u64)| {
        let traffic = Traffic {
            pattern: arguments.pattern,
            length: arguments.length,
            load: 0.0,
            copies: arguments.copies,
            seed: *seed,
        };
        let RoutedNetwork { wiring, routing, .. } = &routed[*at];
        run(&Experiment { wiring, routing, parameters, traffic, rules }, &arguments.load, *seed)
    };
    let mut runs =
        run_parallel(&jobs, arguments.runs.threads(), run_job, || progress.finish_task()).into_iter();
    routed.iter().map(|_| runs.by_ref().take(seeds as usize).collect()).collect()
}

/// One routed network with one seed: at the given loads, or at growing ones.
fn run(experiment: &Experiment, loads: &[f64], seed: u64) -> SeedRun {
    let mut points = Vec::new();
    let found: Result<(), SimulationError> = if loads.is_empty() {
        let first =
            FIRST_SHARE * f64::from(experiment.wiring.switches()) / f64::from(experiment.wiring.hosts());
        throughput(experiment, first, LOAD_STEP).map(|found| points = found.points)
    } else {
        loads.iter().try_for_each(|load| {
            points.push(
                Experiment { traffic: Traffic { load: *load, ..experiment.traffic }, ..experiment.clone() }
                    .run()?,
            );
            Ok(())
        })
    };
    SeedRun { seed, points, halted: found.err().map(|halt| halt.to_string()) }
}

fn routed_case(routed: &RoutedNetwork, runs: Vec<SeedRun>) -> RoutedCase {
    let most = |run: &SeedRun| run.points.iter().map(|point| point.accepted.mean).fold(0.0, f64::max);
    let is_complete = runs.iter().all(|run| run.halted.is_none());
    RoutedCase {
        network: routed.network.clone(),
        scheme: routed.scheme.clone(),
        seconds: routed.took.seconds,
        processor_seconds: routed.took.processor_seconds,
        switches: routed.wiring.switches(),
        hosts: routed.wiring.hosts(),
        throughput: is_complete.then(|| Interval::of(&runs.iter().map(most).collect::<Vec<f64>>())),
        runs,
    }
}
