//! `evenkeel simulate`: schedules in virtual time, as a table, a record and pictures.

use super::arguments::Simulate;
use super::setup::Named;
use super::{plot, setup as input, text as output};
use crate::commands::report::command as record_file;
use crate::errors::Failure;
use crate::output::file::write;
use evenkeel_schedule::{Nodes, Problem, Rank, Schedule};
use evenkeel_schedule_sim::{
    Leaving, NoObserver, Outcome, Recording, VirtualTime, Workload, simulate as run, simulate_shared,
    time_without_calls,
};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::time::Instant;

/// One schedule with one number of ranks, simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// As given on the command line.
    pub schedule: String,
    pub operation: &'static str,
    pub ranks: u32,
    /// What the loop would take if nobody waited and calls took no time.
    #[serde(rename = "alone_ns")]
    pub alone: VirtualTime,
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What the simulation itself took. Not in the record, which is the same in every run.
    #[serde(skip)]
    pub seconds: f64,
}

impl Run {
    fn new(named: &Named, schedule: &Schedule, alone: VirtualTime, outcome: Outcome, seconds: f64) -> Run {
        Run {
            schedule: named.to_string(),
            operation: schedule.algorithm.collective.name(),
            ranks: schedule.problem.ranks,
            alone,
            outcome,
            seconds,
        }
    }
}

/// Simulates every schedule with every number of ranks, writes the files that were asked for, and
/// returns what is printed.
pub fn simulate(arguments: &Simulate) -> Result<String, Failure> {
    let refuse = |why: String| Failure::Simulate { why: why.trim_end_matches('.').into() };
    for file in
        [&arguments.json, &arguments.plot, &arguments.svg, &arguments.transcript].into_iter().flatten()
    {
        record_file::check_place(file)?;
    }
    let setting = input::read(arguments)?;
    let schedules = arguments
        .schedules
        .iter()
        .flat_map(|named| arguments.ranks.0.iter().map(move |ranks| (named, *ranks)));
    let mut made = Vec::new();
    for (named, ranks) in schedules {
        let mut problem =
            Problem::new(ranks).with_elements(arguments.elements).with_root(Rank(arguments.root));
        if let Some(node) = setting.parameters.node.as_ref() {
            problem = problem.with_nodes(Nodes::Blocks(node.ranks.unwrap_or(ranks)));
        }
        let set: Vec<(&str, u32)> = named.set(|algorithm, name, word| Failure::Simulate {
            why: format!("`{word}` is no value of `{name}` of {algorithm}"),
        })?;
        made.push((named, Schedule::new(named.algorithm, problem, &set).map_err(|e| refuse(e.to_string()))?));
    }
    if made.len() > 1 && (arguments.svg.is_some() || arguments.transcript.is_some()) {
        return Err(refuse("a picture or a transcript is of one schedule with one number of ranks".into()));
    }
    let bar = progress_bar(made.len() as u64);
    let mut runs = Vec::new();
    let mut files = String::new();
    for (named, schedule) in &made {
        let ranks = schedule.problem.ranks;
        bar.set_message(format!("{named}, {ranks} ranks"));
        let done = runs.len() as f64;
        let mut progress = |share: f64| bar.set_position(((done + share) * 1000.0) as u64);
        let begun = Instant::now();
        let workload: &Workload = &setting.workload;
        if let Some(cores) = setting.cores.filter(|cores| ranks > cores.cores) {
            let found = simulate_shared(
                schedule,
                arguments.element_bytes,
                &cores,
                workload,
                arguments.orders,
                &mut progress,
            )
            .map_err(|e| refuse(e.to_string()))?;
            let seconds = begun.elapsed().as_secs_f64();
            runs.push(Run::new(named, schedule, found.time_without_calls, found.outcome, seconds));
            bar.set_position(runs.len() as u64 * 1000);
            continue;
        }
        let outcome: Result<Outcome, _> = if arguments.svg.is_some() || arguments.transcript.is_some() {
            let mut recording = Recording::default();
            let outcome = run(
                schedule,
                arguments.element_bytes,
                &setting.machine,
                workload,
                &mut recording,
                &mut progress,
            );
            files += &output::pictures(arguments, &recording, ranks)?;
            outcome
        } else {
            run(schedule, arguments.element_bytes, &setting.machine, workload, &mut NoObserver, &mut progress)
        };
        let outcome = outcome.map_err(|e| refuse(e.to_string()))?;
        let seconds = begun.elapsed().as_secs_f64();
        runs.push(Run::new(named, schedule, time_without_calls(workload, ranks), outcome, seconds));
        bar.set_position(runs.len() as u64 * 1000);
    }
    bar.finish_and_clear();
    if let Some(file) = &arguments.json {
        write(file, &output::json(arguments, &setting, &runs))?;
    }
    if let Some(file) = &arguments.plot {
        write(file, &plot::svg(&runs)?)?;
        files += &format!("\n{} written: open it in a browser.\n", file.display());
    }
    Ok(output::text(arguments, &setting, &runs, record_file::terminal().0) + &files)
}

/// On standard error, and only on a terminal.
pub(crate) fn progress_bar(runs: u64) -> ProgressBar {
    let bar = ProgressBar::new(runs * 1000);
    let style = ProgressStyle::with_template("{spinner} {msg} {bar:40} {percent}%, {eta} left")
        .expect("a constant template");
    bar.set_style(style);
    bar
}

/// Whether ranks leave as soon as they are owed nothing.
pub(crate) fn bypass(workload: &Workload) -> bool {
    workload.leaving != Leaving::Strict
}
