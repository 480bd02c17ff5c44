//! Networks and tables from files.

use super::command::refuse;
use crate::errors::Failure;
use evenkeel_route::format::{lfts, read_network};
use evenkeel_route::{Network, Table};
use std::path::Path;

/// A network that can be routed: connected, with two end nodes at least.
pub fn network(file: &Path) -> Result<Network, Failure> {
    let network =
        read_network(&text(file)?).map_err(|e| refuse(format!("{} is no network: {e}", file.display())))?;
    if !network.is_connected() {
        return Err(refuse(format!(
            "{} is in pieces: some switches cannot be reached from others, whatever the tables",
            file.display()
        )));
    }
    if network.end_nodes().len() < 2 {
        return Err(refuse(format!(
            "{} has fewer than two end nodes, so there is nothing to send",
            file.display()
        )));
    }
    Ok(network)
}

/// Tables for a network, and what the file said of things that the network does not have.
pub fn tables(network: &Network, file: &Path) -> Result<(Table, lfts::SkippedEntries), Failure> {
    lfts::read(network, &text(file)?).map_err(|e| refuse(format!("{} holds no tables: {e}", file.display())))
}

fn text(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|e| refuse(format!("{} cannot be read: {e}", file.display())))
}

/// A network's name in tables: its file's, without directory and ending.
pub fn name(file: &Path) -> String {
    file.file_stem().map_or_else(|| file.display().to_string(), |n| n.to_string_lossy().into_owned())
}
