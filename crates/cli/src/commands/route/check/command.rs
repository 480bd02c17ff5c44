//! Carries out `evenkeel route check`.

use super::arguments::CheckArguments;
use crate::commands::route::figures::Figures;
use crate::commands::route::network_file;
use crate::commands::route::opensm::{CreditLoops, OpenSm, SWEEP_LIMIT, SweepRequest, scratch_directory};
use crate::errors::{CommandError, RouteReason};
use crate::output::outcome::Outcome;
use crate::output::{file, terminal};
use evenkeel_route::check::{Traffic, check_traffic};
use evenkeel_route::format::lfts;
use evenkeel_route::{Network, Table};
use evenkeel_text::page::Page;
use serde::Serialize;

/// The layout of `--json`.
#[derive(Serialize)]
struct Record {
    network: String,
    tables: String,
    traffic: &'static str,
    figures: Figures,
    /// Entries that OpenSM set otherwise than they stand in the file; None if it was not asked.
    changed_by_opensm: Option<usize>,
    /// Whether ibdmchk finds the tables free of credit loops; None if it was not asked.
    free_by_ibdmchk: Option<bool>,
}

/// What OpenSM makes of the tables.
struct LoadedTables {
    /// Entries that it set otherwise.
    changed: usize,
    /// Whether ibdmchk finds what it set free of credit loops; None if ibdmchk is not installed.
    is_free: Option<bool>,
}

/// Returns the verdict and, where asked for, what OpenSM makes of the tables.
pub fn check(arguments: &CheckArguments) -> Result<Outcome, CommandError> {
    file::check_outputs(&[("--json", arguments.json.as_deref())], &[&arguments.network, &arguments.lfts])?;
    let network = network_file::network(&arguments.network)?;
    let (table, unknown) = network_file::tables(&network, &arguments.lfts)?;
    let traffic = if arguments.everything { Traffic::Everything } else { Traffic::EndNodes };
    let figures = Figures::of(&network, &check_traffic(&network, &table, traffic));
    let mut page = Page::new(terminal::width());
    figures.describe(&network, &mut page);
    if unknown != lfts::SkippedEntries::default() {
        page.hanging(&format!(
            "The file names {} switches and, in {} entries, destinations that the network does not have. \
             These were ignored.",
            unknown.switches, unknown.destinations
        ));
    }
    let loaded = match arguments.through_opensm {
        true => Some(load(&network, &table)?),
        false => None,
    };
    let mut is_right = figures.sound;
    if let Some(loaded) = &loaded {
        is_right &= loaded.changed == 0 && loaded.is_free != Some(false);
        loaded.describe(&mut page);
    }
    if let Some(json) = &arguments.json {
        let record = Record {
            network: network_file::name(&arguments.network),
            tables: network_file::name(&arguments.lfts),
            traffic: if arguments.everything { "everything" } else { "end nodes" },
            figures,
            changed_by_opensm: loaded.as_ref().map(|loaded| loaded.changed),
            free_by_ibdmchk: loaded.as_ref().and_then(|loaded| loaded.is_free),
        };
        file::write_json(json, &record)?;
    }
    Ok(Outcome::of_examination(page.text(), is_right))
}

/// Has OpenSM load the tables on a simulated network.
fn load(network: &Network, table: &Table) -> Result<LoadedTables, CommandError> {
    let opensm = OpenSm::find()
        .map_err(|missing| RouteReason::OpenSmNeeded { missing, without: "leave --through-opensm out" })?;
    let directory = scratch_directory()?;
    let tables = directory.path().join("tables.lfts");
    file::write(&tables, &network_file::tables_text(network, table)?)?;
    let request = SweepRequest { engine: "file", tables: Some(&tables), with_ibdmchk: true };
    let sweep = opensm.simulate_and_sweep(network, request, directory.path(), SWEEP_LIMIT);
    let sweep = sweep.map_err(RouteReason::from)?;
    let is_free = sweep.ibdmchk.map(|found| found == CreditLoops::Free);
    Ok(LoadedTables { changed: sweep.entries_that_differ_from(network, table), is_free })
}

impl LoadedTables {
    fn describe(&self, page: &mut Page) {
        page.paragraph(&match self.changed {
            0 => "OpenSM, on a simulated network, gives the switches exactly these tables.".to_string(),
            n => format!(
                "OpenSM, on a simulated network, gives the switches other tables: {n} entries differ."
            ),
        });
        page.paragraph(match self.is_free {
            Some(true) => "ibdmchk finds no credit loops either.",
            Some(false) => "ibdmchk finds fault with them.",
            None => "ibdmchk was not asked: it is in the Debian package ibutils.",
        });
    }
}
