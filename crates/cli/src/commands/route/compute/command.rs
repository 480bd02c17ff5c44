//! `evenkeel route compute`: tables for a network, proved, for OpenSM.

use crate::commands::report::command as record_file;
use crate::commands::route::arguments::Compute;
use crate::commands::route::command::{progress_bar, refuse};
use crate::commands::route::figures::Figures;
use crate::commands::route::network_file as read;
use crate::commands::route::table_scheme as scheme;
use crate::errors::Failure;
use crate::output::file::write;
use evenkeel_route::check::{Traffic, check, check_traffic};
use evenkeel_route::format::{lfts, source_routes};
use evenkeel_route::{Network, Table};
use evenkeel_text::paragraph::wrap;
use serde::Serialize;
use std::time::Instant;

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

/// Computes, proves and writes, and returns what is printed.
pub fn compute(arguments: &Compute) -> Result<String, Failure> {
    for file in [&arguments.lfts, &arguments.source_routes, &arguments.json].into_iter().flatten() {
        record_file::check_place(file)?;
    }
    if !(arguments.effort > 0.0 && arguments.effort <= 1000.0) {
        return Err(refuse("--effort is above 0 and at most 1000".into()));
    }
    let network = read::network(&arguments.network)?;
    let bar = progress_bar(1);
    bar.set_message(arguments.scheme.name());
    let begun = Instant::now();
    let mut progress = |share: f64| bar.set_position((share * 1000.0) as u64);
    let table = scheme::compute(
        &network,
        arguments.scheme,
        arguments.lanes,
        arguments.seed,
        arguments.effort,
        &mut progress,
    )
    .map_err(refuse)?;
    let seconds = begun.elapsed().as_secs_f64();
    bar.set_message("checking");
    let figures = Figures::of(&network, &check(&network, &table));
    let everything = check_traffic(&network, &table, Traffic::Everything);
    bar.finish_and_clear();
    let width = record_file::terminal().0.clamp(60, 160);
    let mut text = figures.text(&network, width);
    let end = if everything.is_sound() {
        "That holds for packets from and to switches too"
    } else {
        "Packets from or to switches themselves do not count in that"
    };
    let lanes = if arguments.lanes == 1 { String::new() } else { format!(", {} lanes", arguments.lanes) };
    for line in wrap(
        &format!("{end}. Scheme `{}`{lanes}, computed in {seconds:.2} s.", arguments.scheme.name()),
        width,
        "  ",
    ) {
        text += &format!("{line}\n");
    }
    if let Some(file) = &arguments.lfts {
        let lids = lfts::Lids::of(&network).ok_or_else(|| {
            refuse(format!("{} has more destinations than there are addresses", arguments.network.display()))
        })?;
        write(file, &lfts::write(&network, &table, &lids))?;
        let next = if !figures.sound {
            "do not load it: it can deadlock".to_string()
        } else if arguments.lanes > 1 {
            "senders need the service levels of --json; on one lane these tables can deadlock".into()
        } else {
            format!("opensm -R file -U {}", file.display())
        };
        text += &format!("\n{} written: {next}\n", file.display());
    }
    if let Some(file) = &arguments.source_routes {
        write(file, &source_routes::write(&network, &table))?;
        text += &format!(
            "\n{} written{}\n",
            file.display(),
            if figures.sound { "" } else { ": do not use it, it can deadlock" }
        );
    }
    if let Some(file) = &arguments.json {
        let record = Record {
            network: read::name(&arguments.network),
            switches: network.switches().len(),
            end_nodes: network.end_nodes().len(),
            cables: network.channels() / 2,
            scheme: arguments.scheme.name(),
            lanes: arguments.lanes,
            seed: arguments.seed,
            effort: arguments.effort,
            seconds,
            figures,
            service_levels: service_levels(&network, &table),
        };
        write(file, &(serde_json::to_string_pretty(&record).expect("numbers and words") + "\n"))?;
    }
    Ok(text)
}

fn service_levels(network: &Network, table: &Table) -> Vec<(String, u8)> {
    if table.lanes() == 1 {
        return Vec::new();
    }
    let guid = |to| match to {
        evenkeel_route::Destination::EndNode(e) => network.end_node(e).port_guid,
        evenkeel_route::Destination::Switch(s) => network.switch(s).guid,
    };
    table.destinations().map(|to| (format!("0x{:016x}", guid(to)), table.lane(to))).collect()
}
