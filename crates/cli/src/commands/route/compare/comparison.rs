//! One row of the comparison: the tables of a scheme, or of an engine of OpenSM, on a network.

use crate::commands::route::figures::Figures;
use crate::commands::route::network_file;
use crate::commands::route::opensm::{CreditLoops, OpenSm, SweepRequest, scratch_directory};
use crate::commands::route::table_scheme::{Request, TableScheme};
use crate::errors::{CommandError, RouteReason};
use crate::machine::processor_time;
use crate::output::file;
use evenkeel_route::check::check;
use evenkeel_route::{Network, Table};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The layout of a row in `--json`.
#[derive(Debug, Serialize)]
pub struct Row {
    network: String,
    switches: usize,
    end_nodes: usize,
    cables: usize,
    /// The scheme, or `OpenSM ENGINE`.
    pub scheme: String,
    /// Seconds of computation; for OpenSM of a whole sweep.
    pub seconds: f64,
    /// Seconds of processor time for the same, which do not depend on what else the machine does.
    pub processor_seconds: f64,
    /// None if there are no tables.
    pub figures: Option<Figures>,
    /// Whether ibdmchk finds the tables free of credit loops; None if it was not asked.
    pub free_by_ibdmchk: Option<bool>,
    /// What went otherwise than asked for.
    pub note: Option<String>,
}

/// A network on which schemes are compared.
pub struct Comparison<'a> {
    /// The network's name.
    pub name: &'a str,
    /// The network.
    pub network: &'a Network,
    /// OpenSM, if it is installed.
    pub opensm: Option<&'a OpenSm>,
    /// Whether ibdmchk checks the tables too.
    pub with_ibdmchk: bool,
    /// The longest time for OpenSM on the network.
    pub limit: Duration,
}

impl Comparison<'_> {
    /// The tables of a scheme. `progress` is told the share that is done.
    pub fn scheme(
        &self,
        scheme: TableScheme,
        seed: u64,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Row, CommandError> {
        let (begun, processor_before) = (Instant::now(), processor_time::of_this_process());
        let request = Request { scheme, lanes: 1, seed, effort: 1.0 };
        let tables = match request.compute(self.network, progress) {
            Ok(tables) => tables,
            Err(why) => return Ok(Row { note: Some(why.to_string()), ..self.row(scheme.name()) }),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let processor_seconds = processor_time::of_this_process() - processor_before;
        Ok(Row {
            seconds,
            processor_seconds,
            free_by_ibdmchk: if self.with_ibdmchk { self.check_by_ibdmchk(&tables)? } else { None },
            figures: Some(Figures::of(self.network, &check(self.network, &tables))),
            ..self.row(scheme.name())
        })
    }

    /// The tables of an engine of OpenSM, which must be installed.
    pub fn engine(&self, engine: &str) -> Result<Row, CommandError> {
        let opensm = self.opensm.expect("engines are compared only if OpenSM was found");
        let directory = scratch_directory()?;
        let request = SweepRequest { engine, tables: None, with_ibdmchk: self.with_ibdmchk };
        let row = self.row(format!("OpenSM {engine}"));
        let sweep = match opensm.simulate_and_sweep(self.network, request, directory.path(), self.limit) {
            Ok(sweep) => sweep,
            Err(error) => return Ok(Row { note: Some(error.to_string()), ..row }),
        };
        let other = sweep.engine_used.as_ref().filter(|used| *used != engine);
        Ok(Row {
            seconds: sweep.seconds,
            processor_seconds: sweep.processor_seconds,
            figures: Some(Figures::of(self.network, &check(self.network, &sweep.table))),
            free_by_ibdmchk: sweep.ibdmchk.map(|found| found == CreditLoops::Free),
            note: other.map(|used| format!("it gave up, and OpenSM used `{used}` instead")),
            ..row
        })
    }

    fn row(&self, scheme: String) -> Row {
        Row {
            network: self.name.to_string(),
            switches: self.network.switches().len(),
            end_nodes: self.network.end_nodes().len(),
            cables: self.network.channels() / 2,
            scheme,
            seconds: 0.0,
            processor_seconds: 0.0,
            figures: None,
            free_by_ibdmchk: None,
            note: None,
        }
    }

    /// Has OpenSM load the tables, and ibdmchk check them.
    fn check_by_ibdmchk(&self, tables: &Table) -> Result<Option<bool>, CommandError> {
        let Some(opensm) = self.opensm else { return Ok(None) };
        let Ok(text) = network_file::tables_text(self.network, tables) else { return Ok(None) };
        let directory = scratch_directory()?;
        let lfts = directory.path().join("tables.lfts");
        file::write(&lfts, &text)?;
        let request = SweepRequest { engine: "file", tables: Some(&lfts), with_ibdmchk: true };
        let sweep = opensm
            .simulate_and_sweep(self.network, request, directory.path(), self.limit)
            .map_err(RouteReason::from)?;
        if sweep.entries_that_differ_from(self.network, tables) > 0 {
            return Err(RouteReason::ChangedByOpenSm.into());
        }
        Ok(sweep.ibdmchk.map(|found| found == CreditLoops::Free))
    }
}
