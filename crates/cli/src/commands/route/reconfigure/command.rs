//! `evenkeel route reconfigure`: switches go and come back under traffic, by each protocol.

use crate::commands::report::command as record_file;
use crate::commands::route::command::refuse;
use crate::commands::route::network_file as read;
use crate::commands::route::parallel_runs::Runs;
use crate::errors::Failure;
use crate::output::file::write;
use crate::output::plot_style::{COLOURS, FONT};
use evenkeel_route::{Network, SwitchId};
use evenkeel_switch_sim::reconfiguration::{Course, Method, Settings, Timeline, timeline};
use evenkeel_switch_sim::{Length, Pattern, Traffic, Wiring, run_jobs};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};
use plotters::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// See what it costs to bring all tables up to date when a switch goes or comes, in simulation
///
/// Traffic runs by minimal adaptive routing with up*/down* to escape by; protocols run between the
/// switches over the same channels: static (stop, collect, distribute), overlapped (topology task with
/// partial progressive reconfiguration), planned (only the change is flooded, to switches that know the
/// rest).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel route reconfigure net.topo                      switch 0, the root, goes and comes back
  evenkeel route reconfigure net.topo --switch 5 --plot time.svg --json record.json
  evenkeel route reconfigure net.topo --loss 0.1           a tenth of the control messages is lost
  evenkeel route reconfigure net.topo --also 5 --apart 150  switch 5 goes, and comes back, 150 cycles after switch 0")]
pub struct Reconfigure {
    /// A network
    #[arg(value_name = "NET")]
    pub network: PathBuf,
    /// The switch
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub switch: u32,
    /// Other switches that go, and come back, soon after the first: where tables are not up to date by
    /// then, all protocols go on as the static one
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub also: Vec<u32>,
    /// Cycles from each of these switches to the next
    #[arg(long, default_value_t = 200, value_name = "CYCLES", requires = "also")]
    pub apart: u64,
    /// Phits per cycle and host
    #[arg(long, default_value_t = 0.02, value_name = "LOAD")]
    pub load: f64,
    /// Cycles before it goes, until it comes back, and after that
    #[arg(long, default_value_t = 20_000, value_name = "CYCLES")]
    pub each: u64,
    /// Share of control messages that are lost and sent again
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub loss: f64,
    /// Random numbers
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub runs: Runs,
    /// Draw latency and deliveries over time (SVG)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

const COLUMNS: &[Column] = &[
    Column { group: "", head: "protocol", dispensable: 0 },
    Column { group: "", head: "switch", dispensable: 0 },
    Column { group: "", head: "cycles", dispensable: 0 },
    Column { group: "", head: "stopped", dispensable: 0 },
    Column { group: "", head: "discarded", dispensable: 0 },
    Column { group: "", head: "hit", dispensable: 3 },
    Column { group: "", head: "messages", dispensable: 1 },
    Column { group: "", head: "phits", dispensable: 2 },
];
const METHODS: [(Method, &str); 3] =
    [(Method::Static, "static"), (Method::Overlapped, "overlapped"), (Method::Planned, "planned")];
const WINDOWS: u64 = 120;

/// Simulates all protocols, writes the files that were asked for, and returns what is printed.
pub fn act(arguments: &Reconfigure) -> Result<String, Failure> {
    for file in [&arguments.runs.json, &arguments.plot].into_iter().flatten() {
        record_file::check_place(file)?;
    }
    let network = read::network(&arguments.network)?;
    let switches = switches(arguments, &network)?;
    if (switches.len() as u64 - 1).saturating_mul(arguments.apart) >= arguments.each {
        return Err(refuse("the last switch would go when the first comes back: --apart, times the switches of --also, is less than --each".into()));
    }
    if !(0.0..0.9).contains(&arguments.loss)
        || !(arguments.load > 0.0 && arguments.load <= 1.0)
        || arguments.each < WINDOWS
    {
        return Err(refuse(format!(
            "--loss is from 0 to 0.9, --load above 0 and at most 1, --each {WINDOWS} or more"
        )));
    }
    let wiring = Wiring::of(&network);
    let traffic = Traffic {
        pattern: Pattern::Uniform,
        length: Length::Fixed(16),
        load: arguments.load,
        copies: 1,
        seed: arguments.seed,
    };
    let settings = Settings { loss: arguments.loss, seed: arguments.seed, ..Settings::USUAL };
    let course = Course {
        switches: &switches,
        apart_cycles: arguments.apart,
        each_cycles: arguments.each,
        window_cycles: 3 * arguments.each / WINDOWS,
    };
    let found = run_jobs(
        &METHODS,
        arguments.runs.threads(),
        |(method, _)| timeline(&wiring, course, *method, settings, traffic),
        || {},
    );
    let lines: Vec<Timeline> =
        found.into_iter().collect::<Result<_, _>>().map_err(|e| refuse(e.to_string()))?;
    if let Some(file) = &arguments.runs.json {
        let record = json!({"network": read::name(&arguments.network), "switches": switches, "apart": arguments.apart, "load": arguments.load, "settings": settings, "timelines": lines});
        write(file, &(serde_json::to_string_pretty(&record).expect("numbers and texts") + "\n"))?;
    }
    let mut text = said(&lines, record_file::terminal().0);
    if let Some(file) = &arguments.plot {
        let mut svg = String::new();
        draw(&lines, &mut svg).map_err(|e| refuse(format!("the plot could not be drawn ({e})")))?;
        write(file, &svg)?;
        text += &format!("\n{} written: open it in a browser.\n", file.display());
    }
    Ok(text)
}

/// Those that go and come back, the first one first.
fn switches(arguments: &Reconfigure, network: &Network) -> Result<Vec<u32>, Failure> {
    let mut gone: Vec<SwitchId> = Vec::new();
    for number in std::iter::once(arguments.switch).chain(arguments.also.iter().copied()) {
        let switch = network.switch_ids().find(|s| s.0 == number).ok_or_else(|| {
            refuse(format!("there is no switch {number}: they are 0 to {}", network.switches().len() - 1))
        })?;
        if gone.contains(&switch) {
            return Err(refuse(format!("switch {number} is named twice")));
        }
        gone.push(switch);
    }
    // Those that are away at some time: they go, and come back, in this order.
    let away = (1..=gone.len()).map(|i| &gone[..i]).chain((1..gone.len()).map(|i| &gone[i..]));
    for away in away {
        if !network.without(&[], away).is_connected() {
            let named: Vec<String> = away.iter().map(|s| s.0.to_string()).collect();
            return Err(refuse(format!(
                "without switch {} the network would be in pieces",
                named.join(", ")
            )));
        }
    }
    Ok(gone.iter().map(|s| s.0).collect())
}

fn said(lines: &[Timeline], width: usize) -> String {
    let mut rows = Vec::new();
    for (line, (_, name)) in lines.iter().zip(METHODS) {
        for ((_, o), what) in line.changes.iter().zip(["goes", "comes"]) {
            rows.push(
                [
                    name.to_string(),
                    what.to_string(),
                    o.cycles.to_string(),
                    o.stopped.to_string(),
                    o.discarded.to_string(),
                    o.hit.to_string(),
                    o.messages.to_string(),
                    o.phits.to_string(),
                ]
                .to_vec(),
            );
        }
    }
    let mut all: Vec<String> = table(COLUMNS, &rows, width).lines().collect();
    all.push(String::new());
    all.extend(wrap(
        "cycles: from the (first) change until all tables are up to date. stopped: cycles in which a host might not inject, over all hosts. discarded: packets that the protocol took out; hit: those that \
         went with the switch; packets for its hosts are in neither. messages, phits: of control.",
        width,
        "",
    ));
    all.join("\n") + "\n"
}

fn draw(lines: &[Timeline], text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let colours = [COLOURS[1], COLOURS[2], COLOURS[0]];
    let area = SVGBackend::with_string(text, (820, 560)).into_drawing_area();
    area.fill(&WHITE)?;
    let end = lines.iter().map(|l| l.moments.len() as u64 * l.window_cycles).max().unwrap_or(1) as f64;
    let panels = area.split_evenly((2, 1));
    type Value = fn(&evenkeel_switch_sim::reconfiguration::Moment) -> f64;
    let values: [(&str, Value); 2] =
        [("latency, cycles", |m| m.latency), ("packets delivered", |m| m.packets as f64)];
    for ((name, value), panel) in values.into_iter().zip(&panels) {
        let most = lines.iter().flat_map(|l| &l.moments).map(value).fold(1.0, f64::max);
        let mut chart = ChartBuilder::on(panel)
            .margin(12)
            .margin_right(28)
            .x_label_area_size(36)
            .y_label_area_size(60)
            .build_cartesian_2d(0.0..end, 0.0..most * 1.1)?;
        chart
            .configure_mesh()
            .x_desc("cycles")
            .y_desc(name)
            .x_label_formatter(&|c| format!("{c:.0}"))
            .y_label_formatter(&|v| format!("{v:.0}"))
            .label_style((FONT, 12))
            .light_line_style(WHITE)
            .draw()?;
        for ((line, (_, method)), colour) in lines.iter().zip(METHODS).zip(colours) {
            let at = |(i, m): (usize, &_)| ((i as f64 + 0.5) * line.window_cycles as f64, value(m));
            chart
                .draw_series(LineSeries::new(
                    line.moments.iter().enumerate().map(at),
                    colour.stroke_width(2),
                ))?
                .label(method)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2)));
        }
        for (when, _) in lines.iter().take(1).flat_map(|l| &l.changes) {
            chart.draw_series(std::iter::once(PathElement::new(
                vec![(*when as f64, 0.0), (*when as f64, most * 1.1)],
                BLACK.mix(0.3),
            )))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font((FONT, 12))
            .background_style(WHITE.mix(0.8))
            .draw()?;
    }
    area.present()?;
    Ok(())
}
