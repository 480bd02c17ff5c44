//! Networks and tables from files.

use crate::errors::RouteReason;
use evenkeel_route::check::{Findings, check};
use evenkeel_route::format::{lfts, read_network};
use evenkeel_route::{Network, Table};
use std::path::Path;

/// A network that can be routed: connected, with two end nodes at least.
pub fn network(file: &Path) -> Result<Network, RouteReason> {
    let network = read_network(&text(file)?)
        .map_err(|e| RouteReason::NotANetwork { file: file.into(), why: e.to_string() })?;
    if !network.is_connected() {
        return Err(RouteReason::InPieces { file: file.into() });
    }
    if network.end_nodes().len() < 2 {
        return Err(RouteReason::TooFewEndNodes { file: file.into() });
    }
    Ok(network)
}

/// Tables for a network, and what of the file the network does not have.
pub fn tables(network: &Network, file: &Path) -> Result<(Table, lfts::SkippedEntries), RouteReason> {
    lfts::read(network, &text(file)?)
        .map_err(|e| RouteReason::NotTables { file: file.into(), why: e.to_string() })
}

/// Tables that lead from every end node to every other; tables of another network do not.
pub fn whole_tables(network: &Network, file: &Path) -> Result<Table, RouteReason> {
    let (table, skipped) = tables(network, file)?;
    let findings = check(network, &table);
    match findings.broken_paths {
        0 => Ok(table),
        _ => Err(other_tables(network, file, &findings, skipped)),
    }
}

/// Tables that name nothing which the network does not have. Paths may be missing.
pub fn own_tables(network: &Network, file: &Path) -> Result<Table, RouteReason> {
    let (table, skipped) = tables(network, file)?;
    match skipped == lfts::SkippedEntries::default() {
        true => Ok(table),
        false => Err(other_tables(network, file, &check(network, &table), skipped)),
    }
}

fn other_tables(
    network: &Network,
    file: &Path,
    findings: &Findings,
    skipped: lfts::SkippedEntries,
) -> RouteReason {
    let end_nodes = network.end_nodes().len() as u64;
    let lfts::SkippedEntries { switches, destinations } = skipped;
    let (whole, pairs) = (findings.pairs, end_nodes * (end_nodes - 1));
    RouteReason::OtherTables { file: file.into(), whole, pairs, switches, destinations }
}

/// The text of tables, for OpenSM.
pub fn tables_text(network: &Network, table: &Table) -> Result<String, RouteReason> {
    let lids = lfts::Lids::of(network).ok_or(RouteReason::TooManyDestinations)?;
    Ok(lfts::write(network, table, &lids))
}

fn text(file: &Path) -> Result<String, RouteReason> {
    std::fs::read_to_string(file)
        .map_err(|e| RouteReason::NotReadable { file: file.into(), why: e.to_string() })
}

/// A network's name in tables: the name of its file without directory and ending.
pub fn name(file: &Path) -> String {
    file.file_stem().map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// `64 switches, 256 end nodes, 192 cables between switches`.
pub fn size(network: &Network) -> String {
    format!(
        "{} switches, {} end nodes, {} cables between switches",
        network.switches().len(),
        network.end_nodes().len(),
        network.channels() / 2
    )
}
