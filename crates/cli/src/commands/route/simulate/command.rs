//! `evenkeel route simulate`: latency and throughput of routing schemes, as a table, a record and pictures.

use super::arguments::Simulate;
use super::{plot, routes, text as output};
use crate::commands::report::command as record_file;
use crate::commands::route::parallel_runs::progress_bar;
use crate::errors::Failure;
use crate::output::file::write;
use evenkeel_switch_sim::{Halt, Interval, Job, Point, Rules, Traffic, Wiring, run_jobs, throughput};
use serde::Serialize;
use std::time::Instant;

/// One network under one scheme.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    pub network: String,
    pub scheme: String,
    /// What finding the routes took.
    pub seconds: f64,
    /// Processor time of the same.
    pub processor_seconds: f64,
    pub switches: u32,
    pub hosts: u32,
    /// The most that each seed accepted, in phits per cycle and sending host; interval over seeds. Nothing
    /// if there was a deadlock.
    pub throughput: Option<Interval>,
    pub runs: Vec<Run>,
}

/// All points of one seed.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    pub seed: u64,
    pub points: Vec<Point>,
    /// Why it ended before its time.
    pub halted: Option<String>,
}

/// How much more traffic each next point offers, if no loads are given.
const STEP: f64 = 1.2;
/// The first point offers this share of what one phit per cycle into every switch would be.
const FIRST_SHARE: f64 = 0.05;

pub fn refuse(why: String) -> Failure {
    Failure::RouteSimulate { why }
}

/// Simulates all networks, schemes and seeds, writes the files that were asked for, and returns what is
/// printed.
pub fn simulate(arguments: &Simulate) -> Result<String, Failure> {
    for file in [&arguments.runs.json, &arguments.plot, &arguments.map].into_iter().flatten() {
        record_file::check_place(file)?;
    }
    let parameters = arguments.parameters();
    parameters.check().map_err(|e| refuse(e.to_string()))?;
    if arguments.load.iter().any(|l| !(*l > 0.0 && *l <= 1.0)) {
        return Err(refuse(
            "a load is above 0 and at most 1: a host's channel carries one phit in a cycle".into(),
        ));
    }
    let routed = routes::read_and_route(arguments, &parameters)?;
    let mut jobs = Vec::new();
    for place in 0..routed.len() {
        jobs.extend((0..u64::from(arguments.seeds.max(1))).map(|i| (place, arguments.seed + i)));
    }
    let bar = progress_bar(jobs.len());
    let rules = Rules { warm_up: arguments.warm_up, precision: arguments.precision, ..Rules::USUAL };
    let begun = Instant::now();
    let results = run_jobs(
        &jobs,
        arguments.runs.threads(),
        |(place, seed)| {
            let routed = &routed[*place];
            let traffic = Traffic {
                pattern: arguments.pattern,
                length: arguments.length,
                load: 0.0,
                copies: arguments.copies,
                seed: *seed,
            };
            run(
                &Job { wiring: &routed.wiring, routes: &routed.routes, parameters, traffic, rules },
                &arguments.load,
                *seed,
            )
        },
        || bar.inc(1),
    );
    bar.finish_and_clear();
    let seconds = begun.elapsed().as_secs_f64();
    let mut results = results.into_iter();
    let cases: Vec<Case> = routed
        .iter()
        .map(|r| {
            let runs: Vec<Run> = results.by_ref().take(arguments.seeds.max(1) as usize).collect();
            let most = |run: &Run| run.points.iter().map(|p| p.accepted.mean).fold(0.0, f64::max);
            let whole = runs.iter().all(|r| r.halted.is_none());
            Case {
                network: r.network.clone(),
                scheme: r.scheme.clone(),
                seconds: r.took.seconds,
                processor_seconds: r.took.processor_seconds,
                switches: r.wiring.switches(),
                hosts: r.wiring.hosts(),
                throughput: whole.then(|| Interval::of(&runs.iter().map(most).collect::<Vec<f64>>())),
                runs,
            }
        })
        .collect();
    let mut text = output::text(&cases, seconds, record_file::terminal().0);
    if let Some(file) = &arguments.runs.json {
        write(file, &output::json(arguments, &parameters, &rules, &cases))?;
    }
    if let Some(file) = &arguments.plot {
        write(file, &plot::curves(&cases)?)?;
        text += &format!("\n{} written: open it in a browser.\n", file.display());
    }
    if let Some(file) = &arguments.map {
        let wirings: Vec<&Wiring> = routed.iter().map(|r| &r.wiring).collect();
        write(file, &plot::map(&cases, &wirings)?)?;
        text += &format!("\n{} written: open it in a browser.\n", file.display());
    }
    Ok(text)
}

fn run(job: &Job, loads: &[f64], seed: u64) -> Run {
    let mut points = Vec::new();
    let found: Result<(), Halt> = if loads.is_empty() {
        let first = FIRST_SHARE * f64::from(job.wiring.switches()) / f64::from(job.wiring.hosts());
        throughput(job, first, STEP).map(|found| points = found.points)
    } else {
        loads.iter().try_for_each(|load| {
            points.push(Job { traffic: Traffic { load: *load, ..job.traffic }, ..job.clone() }.run()?);
            Ok(())
        })
    };
    Run { seed, points, halted: found.err().map(|halt| halt.to_string()) }
}
