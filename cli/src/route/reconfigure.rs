//! `evenkeel route reconfigure`: a switch goes and comes back under traffic, by each protocol.

use super::{read, refuse};
use crate::failure::Failure;
use crate::output_file::write;
use crate::palette::{COLOURS, FONT};
use crate::record_file;
use evenkeel_fabric_simulation::reconfiguration::{Method, Settings, Timeline, timeline};
use evenkeel_fabric_simulation::{Length, Pattern, Traffic, Wiring, run_jobs};
use evenkeel_report::table::{Column, table, wrap};
use plotters::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// See what it costs to bring all tables up to date when a switch goes or comes, in simulation
///
/// Traffic runs by minimal adaptive routing with up*/down* to escape by; protocols run between the switches over the same channels: static (stop, collect, distribute), overlapped
/// (topology task with partial progressive reconfiguration), planned (only the change is flooded, to switches that know the rest).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel route reconfigure net.topo                      switch 0, the root, goes and comes back
  evenkeel route reconfigure net.topo --switch 5 --plot time.svg --json record.json
  evenkeel route reconfigure net.topo --loss 0.1           a tenth of the control messages is lost")]
pub struct Reconfigure {
    /// A network
    #[arg(value_name = "NET")]
    pub network: PathBuf,
    /// The switch
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub switch: u32,
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
    /// Write outcomes and time lines to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
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
const METHODS: [(Method, &str); 3] = [(Method::Static, "static"), (Method::Overlapped, "overlapped"), (Method::Planned, "planned")];
const WINDOWS: u64 = 120;

/// Simulates all protocols, writes the files that were asked for, and returns what is printed.
pub fn act(arguments: &Reconfigure) -> Result<String, Failure> {
    for file in [&arguments.json, &arguments.plot].into_iter().flatten() {
        record_file::check_place(file)?;
    }
    let network = read::network(&arguments.network)?;
    let gone = network.switch_ids().find(|s| s.0 == arguments.switch).ok_or_else(|| refuse(format!("there is no switch {}: they are 0 to {}", arguments.switch, network.switches().len() - 1)))?;
    if !network.without(&[], &[gone]).connected() {
        return Err(refuse(format!("without switch {} the network would be in pieces", gone.0)));
    }
    if !(0.0..0.9).contains(&arguments.loss) || !(arguments.load > 0.0 && arguments.load <= 1.0) || arguments.each < WINDOWS {
        return Err(refuse(format!("--loss is from 0 to 0.9, --load above 0 and at most 1, --each {WINDOWS} or more")));
    }
    let wiring = Wiring::of(&network);
    let traffic = Traffic { pattern: Pattern::Uniform, length: Length::Fixed(16), load: arguments.load, copies: 1, seed: arguments.seed };
    let settings = Settings { loss: arguments.loss, seed: arguments.seed, ..Settings::USUAL };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found = run_jobs(&METHODS, threads, |(method, _)| timeline(&wiring, arguments.switch, *method, settings, traffic, arguments.each, 3 * arguments.each / WINDOWS), || {});
    let lines: Vec<Timeline> = found.into_iter().collect::<Result<_, _>>().map_err(|e| refuse(e.to_string()))?;
    if let Some(file) = &arguments.json {
        let record = json!({"network": read::name(&arguments.network), "switch": arguments.switch, "load": arguments.load, "settings": settings, "timelines": lines});
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

fn said(lines: &[Timeline], width: usize) -> String {
    let mut rows = Vec::new();
    for (line, (_, name)) in lines.iter().zip(METHODS) {
        for ((_, o), what) in line.changes.iter().zip(["goes", "comes"]) {
            rows.push([name.to_string(), what.to_string(), o.cycles.to_string(), o.stopped.to_string(), o.discarded.to_string(), o.hit.to_string(), o.messages.to_string(), o.phits.to_string()].to_vec());
        }
    }
    let (_, mut all) = table(COLUMNS, &rows, width);
    all.push(String::new());
    all.extend(wrap(
        "cycles: from the change until all tables are up to date. stopped: cycles in which a host might not inject, over all hosts. discarded: packets that the protocol took out; hit: those that \
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
    type Value = fn(&evenkeel_fabric_simulation::reconfiguration::Moment) -> f64;
    let values: [(&str, Value); 2] = [("latency, cycles", |m| m.latency), ("packets delivered", |m| m.packets as f64)];
    for ((name, value), panel) in values.into_iter().zip(&panels) {
        let most = lines.iter().flat_map(|l| &l.moments).map(value).fold(1.0, f64::max);
        let mut chart = ChartBuilder::on(panel).margin(12).margin_right(28).x_label_area_size(36).y_label_area_size(60).build_cartesian_2d(0.0..end, 0.0..most * 1.1)?;
        chart.configure_mesh().x_desc("cycles").y_desc(name).x_label_formatter(&|c| format!("{c:.0}")).y_label_formatter(&|v| format!("{v:.0}")).label_style((FONT, 12)).light_line_style(WHITE).draw()?;
        for ((line, (_, method)), colour) in lines.iter().zip(METHODS).zip(colours) {
            let at = |(i, m): (usize, &_)| ((i as f64 + 0.5) * line.window_cycles as f64, value(m));
            chart
                .draw_series(LineSeries::new(line.moments.iter().enumerate().map(at), colour.stroke_width(2)))?
                .label(method)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2)));
        }
        for (when, _) in lines.iter().take(1).flat_map(|l| &l.changes) {
            chart.draw_series(std::iter::once(PathElement::new(vec![(*when as f64, 0.0), (*when as f64, most * 1.1)], BLACK.mix(0.3))))?;
        }
        chart.configure_series_labels().position(SeriesLabelPosition::UpperLeft).label_font((FONT, 12)).background_style(WHITE.mix(0.8)).draw()?;
    }
    area.present()?;
    Ok(())
}
