//! Carries out `evenkeel route plan`.

use super::arguments::PlanArguments;
use super::rehearsal::{Rehearsal, rehearse};
use crate::commands::route::network_file;
use crate::errors::{CommandError, FileError, RouteError, RouteReason};
use crate::output::outcome::Outcome;
use crate::output::{file, terminal};
use evenkeel_route::format::lfts;
use evenkeel_route::plan::{EntryChange, UpdatePlan, UpdateStep, plan as find_plan, prove, usual_targets};
use evenkeel_route::{Destination, Network, Random, Table, check};
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use serde_json::json;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const COLUMNS: &[Column] = &[
    Column { group: "", head: "step", dispensable: 0 },
    Column { group: "", head: "entries", dispensable: 0 },
    Column { group: "", head: "switches", dispensable: 0 },
    Column { group: "", head: "destinations", dispensable: 1 },
    Column { group: "", head: "any order", dispensable: 0 },
];

/// Plans, proves each step, rehearses if asked to, writes the files that were asked for, and returns what is
/// printed.
pub fn plan(arguments: &PlanArguments) -> Result<Outcome, CommandError> {
    check_files(arguments)?;
    let old = network_file::network(&arguments.network)?;
    let new = network_file::network(&arguments.new_network)?;
    can_be_matched(arguments, &old, &new).map_err(RouteError::Plan)?;
    let today = todays_tables(&old, &new, &arguments.lfts)?;
    let found = find_plan(&new, &today, arguments.improve, &usual_targets(&new))
        .map_err(|e| RouteError::Plan(RouteReason::NoUpdatePlan(e.to_string())))?;
    let tables = tables_of_steps(&new, today, &found.steps).map_err(RouteError::Plan)?;
    if let Some(directory) = &arguments.out {
        file::make_directory(directory)?;
        for (step, table) in tables.iter().enumerate().skip(1) {
            let text = network_file::tables_text(&new, table).map_err(RouteError::Plan)?;
            file::write(&directory.join(format!("{step}.lfts")), &text)?;
        }
    }
    let rehearsal = match arguments.through_opensm {
        true => {
            let random = &mut Random::new(arguments.seed);
            Some(rehearse(&new, &tables[0], &found.steps, arguments.mixtures, random)?)
        }
        false => None,
    };
    if let Some(file) = &arguments.json {
        file::write_json(file, &record(&new, &found, rehearsal.as_ref()))?;
    }
    let mut page = Page::new(terminal::width());
    describe(&new, &found, &mut page);
    if let Some(rehearsal) = &rehearsal {
        page.blank().paragraph(&rehearsal.describe());
    }
    Ok(Outcome::of_examination(page.text(), rehearsal.is_none_or(|rehearsal| rehearsal.is_right())))
}

/// Refuses to write what is read, or one file twice. How many steps there will be is not known yet: every
/// file that could be one of a step counts.
fn check_files(arguments: &PlanArguments) -> Result<(), FileError> {
    let inputs = [&arguments.network, &arguments.lfts, &arguments.new_network].map(PathBuf::as_path);
    let mut outputs = vec![("--json", arguments.json.as_deref())];
    file::check_outputs(&outputs, &inputs)?;
    let steps = arguments.out.as_deref().map(|directory| possible_steps(directory, arguments));
    outputs.extend(steps.iter().flatten().map(|file| ("--out", Some(file.as_path()))));
    file::check_apart(&outputs, &inputs)
}

/// Files of steps that are there already, and those of the names of other files of this command.
fn possible_steps(directory: &Path, arguments: &PlanArguments) -> BTreeSet<PathBuf> {
    let is_step = |name: &OsString| {
        let number = name.to_str().and_then(|name| name.strip_suffix(".lfts")).map(str::parse::<u64>);
        number.is_some_and(|number| number.is_ok())
    };
    let there = directory.read_dir().into_iter().flatten().flatten().map(|entry| entry.file_name());
    let named = arguments.json.iter().chain([&arguments.network, &arguments.lfts, &arguments.new_network]);
    let named = named.filter_map(|file| file.file_name().map(OsString::from));
    there.chain(named).filter(is_step).map(|name| directory.join(name)).collect()
}

/// Refuses networks whose switches cannot be told apart by GUIDs. A network is always matched with itself.
fn can_be_matched(arguments: &PlanArguments, old: &Network, new: &Network) -> Result<(), RouteReason> {
    let files = [(&arguments.network, old), (&arguments.new_network, new)];
    match files.into_iter().find(|(_, network)| network.guids_are_made_up()) {
        Some((file, _)) if old != new => Err(RouteReason::NoGuids { file: file.clone() }),
        _ => Ok(()),
    }
}

/// The current tables on the new network. They are matched by GUID and port, so that numbers of switches and
/// addresses may differ.
fn todays_tables(old: &Network, new: &Network, file: &Path) -> Result<Table, CommandError> {
    let table = network_file::own_tables(old, file).map_err(RouteError::Plan)?;
    let text = network_file::tables_text(old, &table).map_err(RouteError::Plan)?;
    let (today, _) = lfts::read(new, &text)
        .map_err(|e| RouteError::Plan(RouteReason::NotTables { file: file.into(), why: e.to_string() }))?;
    Ok(today)
}

/// The current tables, and those after each step, which is proved.
fn tables_of_steps(network: &Network, today: Table, steps: &[UpdateStep]) -> Result<Vec<Table>, RouteReason> {
    let mut tables = vec![today];
    for (at, step) in steps.iter().enumerate() {
        let after = step.applied(&tables[at]);
        prove(network, &tables[at], &after)
            .map_err(|e| RouteReason::WrongStep { step: at + 1, why: e.to_string() })?;
        tables.push(after);
    }
    Ok(tables)
}

fn describe(network: &Network, found: &UpdatePlan, page: &mut Page) {
    let row = |(at, step): (usize, &UpdateStep)| {
        let switches: BTreeSet<u32> = step.changes.iter().map(|change| change.at.0).collect();
        let destinations: BTreeSet<_> = step.changes.iter().map(|change| change.to).collect();
        vec![
            (at + 1).to_string(),
            step.changes.len().to_string(),
            switches.len().to_string(),
            destinations.len().to_string(),
            "proved".into(),
        ]
    };
    if found.steps.is_empty() {
        page.line("Nothing has to be changed.");
    } else {
        page.table(COLUMNS, &found.steps.iter().enumerate().map(row).collect::<Vec<_>>());
    }
    let end = check::check(network, &found.end);
    page.blank().paragraph(&match found.missing_paths.len() {
        0 => format!(
            "At the end all {} pairs of end nodes reach each other, in {:.2} hops on average (at least \
             {:.2}). The busiest channel carries {} of them.",
            end.pairs,
            end.mean_hops(),
            end.mean_minimal_hops(),
            end.max_load()
        ),
        n => format!(
            "{n} paths could not be restored by these rules. For them, tables have to be loaded with traffic \
             stopped."
        ),
    });
}

/// The layout of `--json`.
fn record(network: &Network, found: &UpdatePlan, rehearsal: Option<&Rehearsal>) -> serde_json::Value {
    let guid = |to| match to {
        Destination::EndNode(end_node) => network.end_node(end_node).port_guid,
        Destination::Switch(switch) => network.switch(switch).guid,
    };
    let change = |change: &EntryChange| {
        json!({
            "switch": format!("0x{:016x}", network.switch(change.at).guid),
            "destination": format!("0x{:016x}", guid(change.to)),
            "port": change.port.0,
        })
    };
    let steps = found.steps.iter().map(|step| step.changes.iter().map(change).collect::<Vec<_>>());
    json!({"steps": steps.collect::<Vec<_>>(), "lost": found.missing_paths.len(), "rehearsal": rehearsal})
}
