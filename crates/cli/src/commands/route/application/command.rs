//! `evenkeel route application`: application cores on models of Myrinet, Gigabit Ethernet and a router
//! of line cards.

use crate::commands::report::command as record_file;
use crate::commands::route::command::refuse;
use crate::commands::route::parallel_runs::{Runs, progress_bar};
use crate::errors::Failure;
use crate::output::file::write;
use crate::output::plot_style::{COLOURS, FONT};
use evenkeel_switch_sim::application::{Core, Fabric, Outcome, Statistics, load, run};
use evenkeel_switch_sim::run_jobs;
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};
use plotters::prelude::*;
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;

/// Run application cores on models of three fabrics with 256 hosts, and see how long messages take
///
/// Cores: token (round a ring), fan-in (all to one), fan-out (one to all), mesh and torus (exchange
/// with neighbours, ten iterations without a barrier). Fabrics: myrinet (a torus of wormhole switches),
/// ethernet (a star of store-and-forward switches), avici (a router of line cards), avici-fabric (the
/// same without Ethernet ports).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel route application                                        all cores on all fabrics
  evenkeel route application --core mesh --bytes 32,512,2048 --plot latency.svg
  evenkeel route application --core torus --fabric myrinet --seeds 10 --json record.json")]
pub struct Application {
    /// A core; may be given several times [all]
    #[arg(long, value_name = "NAME")]
    pub core: Vec<Core>,
    /// A fabric; may be given several times [all]
    #[arg(long, value_name = "NAME")]
    pub fabric: Vec<Fabric>,
    /// Sizes of messages [1 for token, else 2048]
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub bytes: Vec<u32>,
    /// Runs with random numbers of their own; figures are means over them
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    #[command(flatten)]
    pub runs: Runs,
    /// Draw the distributions of latency, and when hosts are done with each iteration (SVG)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// One core on one fabric. Times in microseconds, means over the seeds.
#[derive(Debug, Serialize)]
struct Case {
    fabric: Fabric,
    core: Core,
    bytes: u32,
    seeds: u32,
    /// From sending a message until all of it was there.
    messages: Statistics,
    /// The same of single frames.
    frames: Statistics,
    /// Until all is done.
    total: f64,
    /// The most iterations that two hosts were apart.
    farthest_apart: u32,
    /// Of the first seed: shares of 1% to 100% of the messages took at most this.
    percentiles: Vec<f64>,
    /// Of the first seed: when the first and the last host had done with each iteration.
    iterations: Vec<(f64, f64)>,
}

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

/// Runs everything, writes the files that were asked for, and returns what is printed.
pub fn act(arguments: &Application) -> Result<String, Failure> {
    for file in [&arguments.runs.json, &arguments.plot].into_iter().flatten() {
        record_file::check_place(file)?;
    }
    let cores = if arguments.core.is_empty() { Core::ALL.to_vec() } else { arguments.core.clone() };
    let fabrics = if arguments.fabric.is_empty() { Fabric::ALL.to_vec() } else { arguments.fabric.clone() };
    let mut wanted = Vec::new();
    for core in cores {
        let sizes = match &arguments.bytes[..] {
            [] => vec![if core == Core::Token { 1 } else { 2048 }],
            given => given.to_vec(),
        };
        wanted.extend(
            sizes.into_iter().flat_map(|bytes| fabrics.iter().map(move |fabric| (core, bytes, *fabric))),
        );
    }
    let jobs: Vec<(Core, u32, Fabric, u64)> = wanted
        .iter()
        .flat_map(|(c, b, f)| (1..=u64::from(arguments.seeds)).map(move |seed| (*c, *b, *f, seed)))
        .collect();
    let bar = progress_bar(jobs.len());
    let found = run_jobs(
        &jobs,
        arguments.runs.threads(),
        |(core, bytes, fabric, seed)| run(*fabric, load(*fabric, *core, *bytes), *seed),
        || bar.inc(1),
    );
    bar.finish_and_clear();
    let outcomes: Vec<Outcome> =
        found.into_iter().collect::<Result<_, _>>().map_err(|e| refuse(e.to_string()))?;
    let cases: Vec<Case> = wanted
        .iter()
        .zip(outcomes.chunks(arguments.seeds as usize))
        .map(|((core, bytes, fabric), runs)| case(*fabric, *core, *bytes, runs))
        .collect();
    let mut text = said(&cases, record_file::terminal().0);
    if let Some(file) = &arguments.runs.json {
        write(
            file,
            &(serde_json::to_string_pretty(&json!({"cases": cases})).expect("numbers and texts") + "\n"),
        )?;
    }
    if let Some(file) = &arguments.plot {
        let mut svg = String::new();
        draw(&cases, &mut svg).map_err(|e| refuse(format!("the plot could not be drawn ({e})")))?;
        write(file, &svg)?;
        text += &format!("\n{} written: open it in a browser.\n", file.display());
    }
    Ok(text)
}

fn case(fabric: Fabric, core: Core, bytes: u32, runs: &[Outcome]) -> Case {
    let us = fabric.tick_ns() / 1000.0;
    let mean = |value: &dyn Fn(&Outcome) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    let statistics = |values: &dyn Fn(&Outcome) -> Vec<u64>| {
        let of = |part: fn(&Statistics) -> f64| mean(&|o| part(&Statistics::of(&values(o), us)));
        Statistics {
            least: of(|s| s.least),
            mean: of(|s| s.mean),
            most: of(|s| s.most),
            deviation: of(|s| s.deviation),
        }
    };
    let mut sorted = runs[0].messages.clone();
    sorted.sort_unstable();
    let iterations = runs[0]
        .iterations
        .iter()
        .map(|ends| ends.iter().map(|e| e.0 as f64 * us))
        .map(|ends| (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(0.0, f64::max)));
    Case {
        fabric,
        core,
        bytes,
        seeds: runs.len() as u32,
        messages: statistics(&|o| o.messages.clone()),
        frames: statistics(&|o| o.pieces.clone()),
        total: mean(&|o| o.end as f64 * us),
        farthest_apart: runs.iter().map(Outcome::farthest_apart).max().unwrap_or(0),
        percentiles: (1..=100).map(|p| sorted[(sorted.len() * p).div_ceil(100) - 1] as f64 * us).collect(),
        iterations: iterations.collect(),
    }
}

fn said(cases: &[Case], width: usize) -> String {
    let time = |t: f64| if t < 10.0 { format!("{t:.3}") } else { format!("{t:.2}") };
    let row = |c: &Case| {
        let m = c.messages;
        let apart = if c.iterations.is_empty() { "-".into() } else { c.farthest_apart.to_string() };
        vec![
            c.core.to_string(),
            c.bytes.to_string(),
            c.fabric.to_string(),
            time(m.least),
            time(m.mean),
            time(m.most),
            time(m.deviation),
            time(c.total),
            apart,
        ]
    };
    let rows: Vec<Vec<String>> = cases.iter().map(row).collect();
    let mut lines: Vec<String> = table(COLUMNS, &rows, width).lines().collect();
    lines.push(String::new());
    lines.extend(wrap(
        "latency: from sending a message until all of it is there; what hosts themselves take is left out. total: until everything is done. apart: the most iterations that two hosts were apart at any time.",
        width,
        "",
    ));
    lines.join("\n") + "\n"
}

/// Left: share of messages by latency. Right: when the first and the last host are done with each iteration.
fn draw(cases: &[Case], text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(text, (1080, 460)).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(560);
    let name = |c: &Case| format!("{}, {}, {} bytes", c.fabric, c.core, c.bytes);
    let ends = |f: fn(f64, f64) -> f64, start: f64| {
        cases.iter().flat_map(|c| &c.percentiles).copied().fold(start, f)
    };
    let (least, most) = (ends(f64::min, f64::INFINITY), ends(f64::max, 0.0));
    let mut chart = ChartBuilder::on(&left)
        .caption("latency of messages", (FONT, 15))
        .margin(14)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d((least * 0.9..most * 1.1).log_scale(), 0.0..1.0)?;
    let number = |t: &f64| if *t < 10.0 { format!("{t}") } else { format!("{t:.0}") };
    chart
        .configure_mesh()
        .x_desc("µs")
        .y_desc("share of messages")
        .x_label_formatter(&number)
        .label_style((FONT, 12))
        .light_line_style(WHITE)
        .draw()?;
    for (i, case) in cases.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let line = case.percentiles.iter().enumerate().map(|(p, t)| (*t, (p + 1) as f64 / 100.0));
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
            .label(name(case))
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font((FONT, 11))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    let iterating: Vec<(usize, &Case)> =
        cases.iter().enumerate().filter(|(_, c)| !c.iterations.is_empty()).collect();
    if let Some(last) = iterating.iter().flat_map(|(_, c)| c.iterations.last()).map(|i| i.1).reduce(f64::max)
    {
        let count = iterating[0].1.iterations.len() as f64;
        let mut chart = ChartBuilder::on(&right)
            .caption("the first and the last host are done", (FONT, 15))
            .margin(14)
            .x_label_area_size(40)
            .y_label_area_size(64)
            .build_cartesian_2d(1.0..count, 0.0..last * 1.05)?;
        chart
            .configure_mesh()
            .x_desc("iteration")
            .y_desc("µs")
            .x_label_formatter(&|i| format!("{i:.0}"))
            .y_label_formatter(&|t| format!("{t:.0}"))
            .label_style((FONT, 12))
            .light_line_style(WHITE)
            .draw()?;
        for (i, case) in iterating {
            let colour = COLOURS[i % COLOURS.len()];
            for end in [|i: &(f64, f64)| i.0, |i: &(f64, f64)| i.1] {
                let line = case.iterations.iter().enumerate().map(|(i, ends)| ((i + 1) as f64, end(ends)));
                chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
            }
        }
    }
    area.present()?;
    Ok(())
}
