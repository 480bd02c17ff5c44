//! Carries out `evenkeel route compute`.

use super::arguments::ComputeArguments;
use crate::commands::route::figures::Figures;
use crate::commands::route::{network_file, table_scheme};
use crate::errors::{CommandError, RouteReason};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_route::check::{Traffic, check, check_traffic};
use evenkeel_route::format::source_routes;
use evenkeel_route::{Destination, Network, Table};
use evenkeel_text::page::Page;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// The layout of `--json`.
#[derive(Serialize)]
struct Record {
    network: String,
    switches: usize,
    end_nodes: usize,
    cables: usize,
    scheme: String,
    lanes: u8,
    seed: u64,
    effort: f64,
    seconds: f64,
    figures: Figures,
    /// With several lanes: the service level (lane) of each destination, by the GUID of its port.
    service_levels: Vec<(String, u8)>,
}

/// Computes, proves and writes tables, and returns what is printed.
pub fn compute(arguments: &ComputeArguments) -> Result<String, CommandError> {
    let outputs = &[
        ("--lfts", arguments.lfts.as_deref()),
        ("--source-routes", arguments.source_routes.as_deref()),
        ("--json", arguments.json.as_deref()),
    ];
    file::check_outputs(outputs, &[&arguments.network])?;
    if !(arguments.effort > 0.0 && arguments.effort <= 1000.0) {
        return Err(RouteReason::Effort.into());
    }
    let network = network_file::network(&arguments.network)?;
    let progress = Progress::new(&arguments.scheme.name(), 1);
    let begun = Instant::now();
    let request = table_scheme::Request {
        scheme: arguments.scheme,
        lanes: arguments.lanes,
        seed: arguments.seed,
        effort: arguments.effort,
    };
    let table = request.compute(&network, &mut |share| progress.set_share(share))?;
    let seconds = begun.elapsed().as_secs_f64();
    progress.show("checking");
    let figures = Figures::of(&network, &check(&network, &table));
    let is_sound_for_switches = check_traffic(&network, &table, Traffic::Everything).is_sound();
    drop(progress);
    let mut page = Page::new(terminal::width());
    figures.describe(&network, &mut page);
    page.hanging(&sentence(arguments, is_sound_for_switches, seconds));
    if let Some(lfts) = &arguments.lfts {
        file::write(lfts, &network_file::tables_text(&network, &table)?)?;
        page.blank().line(format!(
            "{} written: {}",
            lfts.display(),
            next_step(arguments, lfts, figures.sound)
        ));
    }
    if let Some(routes) = &arguments.source_routes {
        file::write(routes, &source_routes::write(&network, &table))?;
        let warning = if figures.sound { "" } else { ": do not use it, it can deadlock" };
        page.blank().line(format!("{} written{warning}", routes.display()));
    }
    if let Some(json) = &arguments.json {
        file::write_json(json, &record(arguments, &network, &table, seconds, figures))?;
    }
    Ok(page.text())
}

/// What holds for packets of switches, and how the tables were made.
fn sentence(arguments: &ComputeArguments, is_sound_for_switches: bool, seconds: f64) -> String {
    let switches = match is_sound_for_switches {
        true => "The same holds for packets from and to switches.",
        false => "Packets from and to switches themselves are not covered by that.",
    };
    let lanes = if arguments.lanes == 1 { String::new() } else { format!(", {} lanes", arguments.lanes) };
    format!("{switches} Scheme `{}`{lanes}, computed in {seconds:.2} s.", arguments.scheme.name())
}

/// What to do with the file of tables.
fn next_step(arguments: &ComputeArguments, lfts: &Path, is_sound: bool) -> String {
    if !is_sound {
        "do not load it: it can deadlock".to_string()
    } else if arguments.lanes > 1 {
        "senders need the service levels of --json; on one lane these tables can deadlock".into()
    } else {
        format!("opensm -R file -U {}", lfts.display())
    }
}

fn record(
    arguments: &ComputeArguments,
    network: &Network,
    table: &Table,
    seconds: f64,
    figures: Figures,
) -> Record {
    Record {
        network: network_file::name(&arguments.network),
        switches: network.switches().len(),
        end_nodes: network.end_nodes().len(),
        cables: network.channels() / 2,
        scheme: arguments.scheme.name(),
        lanes: arguments.lanes,
        seed: arguments.seed,
        effort: arguments.effort,
        seconds,
        figures,
        service_levels: service_levels(network, table),
    }
}

fn service_levels(network: &Network, table: &Table) -> Vec<(String, u8)> {
    if table.lanes() == 1 {
        return Vec::new();
    }
    let guid = |to| match to {
        Destination::EndNode(end_node) => network.end_node(end_node).port_guid,
        Destination::Switch(switch) => network.switch(switch).guid,
    };
    table.destinations().map(|to| (format!("0x{:016x}", guid(to)), table.lane(to))).collect()
}
