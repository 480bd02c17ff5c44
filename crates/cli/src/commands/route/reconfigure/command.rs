//! Carries out `evenkeel route reconfigure`.

use super::arguments::ReconfigureArguments;
use super::plot;
use crate::commands::route::network_file;
use crate::errors::{CommandError, RouteReason};
use crate::output::{file, terminal};
use evenkeel_route::{Network, SwitchId};
use evenkeel_switch_sim::reconfiguration::{ChangeSchedule, ControlParameters, Protocol, Timeline, timeline};
use evenkeel_switch_sim::{Length, Pattern, Traffic, Wiring, run_parallel};
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use serde_json::json;

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
/// The protocols, and their names.
pub const PROTOCOLS: [(Protocol, &str); 3] =
    [(Protocol::Static, "static"), (Protocol::Overlapped, "overlapped"), (Protocol::Planned, "planned")];
/// Windows over which latency is averaged, in each of the three phases.
const WINDOWS: u64 = 120;

const LEGEND: &str = "cycles: from the (first) change until all tables are up to date. stopped: cycles in \
                      which a host might not inject, over all hosts. discarded: packets that the protocol \
                      took out; hit: those that were lost with the switch; packets for its hosts are in \
                      neither. messages, phits: of control.";

/// Simulates all protocols, writes the files that were asked for, and returns what is printed.
pub fn reconfigure(arguments: &ReconfigureArguments) -> Result<String, CommandError> {
    file::check_outputs(
        &[("--json", arguments.runs.json.as_deref()), ("--plot", arguments.plot.as_deref())],
        &[&arguments.network],
    )?;
    let network = network_file::network(&arguments.network)?;
    let switches = switches(arguments, &network)?;
    check_ranges(arguments, switches.len())?;
    let usual = ControlParameters::USUAL;
    let parameters = ControlParameters { loss: arguments.loss, seed: arguments.seed, ..usual };
    let lines = timelines(arguments, &network, &switches, parameters)?;
    if let Some(json) = &arguments.runs.json {
        let record = json!({
            "network": network_file::name(&arguments.network),
            "switches": switches,
            "apart": arguments.apart,
            "load": arguments.load,
            "settings": parameters,
            "timelines": lines,
        });
        file::write_json(json, &record)?;
    }
    let mut page = Page::new(terminal::width());
    page.table(COLUMNS, &rows(&lines)).blank().paragraph(LEGEND);
    if let Some(picture) = &arguments.plot {
        file::write(picture, &plot::svg(&lines, PROTOCOLS.map(|(_, name)| name))?)?;
        page.blank().line(file::written_for_browser(picture));
    }
    Ok(page.text())
}

fn check_ranges(arguments: &ReconfigureArguments, switches: usize) -> Result<(), RouteReason> {
    if (switches as u64 - 1).saturating_mul(arguments.apart) >= arguments.each {
        return Err(RouteReason::ApartTooLong);
    }
    let is_in_range = (0.0..0.9).contains(&arguments.loss)
        && (arguments.load > 0.0 && arguments.load <= 1.0)
        && arguments.each >= WINDOWS;
    if is_in_range { Ok(()) } else { Err(RouteReason::ReconfigurationRanges { windows: WINDOWS }) }
}

/// What happens over time, for each protocol.
fn timelines(
    arguments: &ReconfigureArguments,
    network: &Network,
    switches: &[u32],
    parameters: ControlParameters,
) -> Result<Vec<Timeline>, RouteReason> {
    let wiring = Wiring::of(network);
    let traffic = Traffic {
        pattern: Pattern::Uniform,
        length: Length::Fixed(16),
        load: arguments.load,
        copies: 1,
        seed: arguments.seed,
    };
    let schedule = ChangeSchedule {
        switches,
        apart_cycles: arguments.apart,
        each_cycles: arguments.each,
        window_cycles: 3 * arguments.each / WINDOWS,
    };
    let run = |(protocol, _): &(Protocol, &str)| timeline(&wiring, schedule, *protocol, parameters, traffic);
    let found = run_parallel(&PROTOCOLS, arguments.runs.threads(), run, || {});
    found.into_iter().collect::<Result<_, _>>().map_err(|e| RouteReason::Halted(e.to_string()))
}

/// The switches that go and come back, the first one first.
fn switches(arguments: &ReconfigureArguments, network: &Network) -> Result<Vec<u32>, RouteReason> {
    let mut gone: Vec<SwitchId> = Vec::new();
    for number in std::iter::once(arguments.switch).chain(arguments.also.iter().copied()) {
        let switch = network.switch_ids().find(|switch| switch.0 == number);
        let last = network.switches().len() - 1;
        let switch = switch.ok_or(RouteReason::NoSuchSwitch { number, last })?;
        if gone.contains(&switch) {
            return Err(RouteReason::SwitchTwice(number));
        }
        gone.push(switch);
    }
    // The sets of switches that are away at some time: they go, and come back, in this order.
    let away = (1..=gone.len()).map(|i| &gone[..i]).chain((1..gone.len()).map(|i| &gone[i..]));
    for away in away {
        if !network.without(&[], away).is_connected() {
            let named: Vec<String> = away.iter().map(|s| s.0.to_string()).collect();
            return Err(RouteReason::NeededSwitch(named.join(", ")));
        }
    }
    Ok(gone.iter().map(|s| s.0).collect())
}

/// A row for each protocol and change.
fn rows(lines: &[Timeline]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (line, (_, name)) in lines.iter().zip(PROTOCOLS) {
        for ((_, cost), change) in line.changes.iter().zip(["goes", "comes"]) {
            rows.push(vec![
                name.to_string(),
                change.to_string(),
                cost.cycles.to_string(),
                cost.stopped.to_string(),
                cost.discarded.to_string(),
                cost.hit.to_string(),
                cost.messages.to_string(),
                cost.phits.to_string(),
            ]);
        }
    }
    rows
}
