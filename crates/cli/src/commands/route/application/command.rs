//! Carries out `evenkeel route application`.

use super::arguments::ApplicationArguments;
use super::case::ApplicationCase;
use super::plot;
use crate::errors::{CommandError, RouteReason};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_switch_sim::application::{ApplicationCore, Fabric, Outcome, paper_parameters, run};
use evenkeel_switch_sim::run_parallel;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use serde_json::json;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "core", dispensable: 0 },
    Column { group: "", head: "bytes", dispensable: 0 },
    Column { group: "", head: "fabric", dispensable: 0 },
    Column { group: "latency of messages, µs", head: "least", dispensable: 2 },
    Column { group: "latency of messages, µs", head: "mean", dispensable: 0 },
    Column { group: "latency of messages, µs", head: "most", dispensable: 0 },
    Column { group: "latency of messages, µs", head: "deviation", dispensable: 1 },
    Column { group: "", head: "total, µs", dispensable: 3 },
    Column { group: "", head: "apart", dispensable: 4 },
];

const LEGEND: &str = "latency: from sending a message until all of it has arrived; what hosts themselves \
                      take is left out. total: until everything is done. apart: the most iterations that two \
                      hosts were apart at any time.";

/// One core with messages of so many bytes on one fabric.
type Combination = (ApplicationCore, u32, Fabric);

/// Runs everything, writes the files that were asked for, and returns what is printed.
pub fn application(arguments: &ApplicationArguments) -> Result<String, CommandError> {
    file::check_outputs(
        &[("--json", arguments.runs.json.as_deref()), ("--plot", arguments.plot.as_deref())],
        &[],
    )?;
    let combinations = combinations(arguments);
    let outcomes = run_all(arguments, &combinations)?;
    let cases: Vec<ApplicationCase> = combinations
        .iter()
        .zip(outcomes.chunks(arguments.seeds as usize))
        .map(|((core, bytes, fabric), runs)| ApplicationCase::new(*fabric, *core, *bytes, runs))
        .collect();
    let mut page = Page::new(terminal::width());
    page.table(COLUMNS, &cases.iter().map(row).collect::<Vec<_>>()).blank().paragraph(LEGEND);
    if let Some(json) = &arguments.runs.json {
        file::write_json(json, &json!({"cases": cases}))?;
    }
    if let Some(picture) = &arguments.plot {
        file::write(picture, &plot::svg(&cases)?)?;
        page.blank().line(file::written_for_browser(picture));
    }
    Ok(page.text())
}

/// All combinations that were asked for.
fn combinations(arguments: &ApplicationArguments) -> Vec<Combination> {
    let cores =
        if arguments.core.is_empty() { ApplicationCore::ALL.to_vec() } else { arguments.core.clone() };
    let fabrics = if arguments.fabric.is_empty() { Fabric::ALL.to_vec() } else { arguments.fabric.clone() };
    let mut combinations = Vec::new();
    for core in cores {
        let sizes = match &arguments.bytes[..] {
            [] => vec![if core == ApplicationCore::Token { 1 } else { 2048 }],
            given => given.to_vec(),
        };
        for bytes in sizes {
            combinations.extend(fabrics.iter().map(|fabric| (core, bytes, *fabric)));
        }
    }
    combinations
}

/// Each combination with each seed, several at a time.
fn run_all(
    arguments: &ApplicationArguments,
    combinations: &[Combination],
) -> Result<Vec<Outcome>, RouteReason> {
    let jobs: Vec<(Combination, u64)> = combinations
        .iter()
        .flat_map(|combination| (1..=u64::from(arguments.seeds)).map(move |seed| (*combination, seed)))
        .collect();
    let progress = Progress::new("simulating", jobs.len());
    let run_job = |((core, bytes, fabric), seed): &(Combination, u64)| {
        run(*fabric, paper_parameters(*fabric, *core, *bytes), *seed)
    };
    let found = run_parallel(&jobs, arguments.runs.threads(), run_job, || progress.finish_task());
    found.into_iter().collect::<Result<_, _>>().map_err(|e| RouteReason::Halted(e.to_string()))
}

fn row(case: &ApplicationCase) -> Vec<String> {
    let time = |us: f64| if us < 10.0 { format!("{us:.3}") } else { format!("{us:.2}") };
    let messages = case.messages;
    let apart = if case.iterations.is_empty() { "-".into() } else { case.farthest_apart.to_string() };
    vec![
        case.core.to_string(),
        case.bytes.to_string(),
        case.fabric.to_string(),
        time(messages.least),
        time(messages.mean),
        time(messages.most),
        time(messages.deviation),
        time(case.total),
        apart,
    ]
}
