//! `evenkeel route check`: proves tables, or says what is wrong.

use crate::commands::report::command as record_file;
use crate::commands::route::arguments::Check;
use crate::commands::route::command::{Verdict, refuse};
use crate::commands::route::figures::Figures;
use crate::commands::route::network_file as read;
use crate::commands::route::opensm::subnet::{OpenSm, SecondJudge};
use crate::errors::Failure;
use crate::output::file::write;
use evenkeel_route::check::{Traffic, check_traffic};
use evenkeel_route::format::lfts;
use evenkeel_route::{Network, Table};
use evenkeel_text::paragraph::wrap;
use serde::Serialize;
use std::time::Duration;

/// OpenSM on a network that ibsim plays answers within seconds, or not at all.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Serialize)]
struct Record {
    network: String,
    tables: String,
    traffic: &'static str,
    figures: Figures,
    /// Entries that OpenSM set otherwise than they stand in the file; nothing if it was not asked.
    changed_by_opensm: Option<usize>,
    /// Whether ibdmchk finds them free of credit loops; nothing if it was not asked.
    free_by_ibdmchk: Option<bool>,
}

/// The verdict and, where asked for, what OpenSM makes of the tables.
pub fn check(arguments: &Check) -> Result<Verdict, Failure> {
    if let Some(file) = &arguments.json {
        record_file::check_place(file)?;
    }
    let network = read::network(&arguments.network)?;
    let (table, unknown) = read::tables(&network, &arguments.lfts)?;
    let traffic = if arguments.everything { Traffic::Everything } else { Traffic::EndNodes };
    let figures = Figures::of(&network, &check_traffic(&network, &table, traffic));
    let width = record_file::terminal().0.clamp(60, 160);
    let mut text = figures.text(&network, width);
    if unknown != lfts::SkippedEntries::default() {
        let note = format!(
            "The tables name {} switches and, in {} entries, destinations that the network does not have; these were passed over.",
            unknown.switches, unknown.destinations
        );
        wrap(&note, width, "  ").into_iter().for_each(|line| text += &format!("{line}\n"));
    }
    let mut right = figures.sound;
    let (mut changed_by_opensm, mut free_by_ibdmchk) = (None, None);
    if arguments.through_opensm {
        let (changed, ibdmchk) = through_opensm(&network, &table)?;
        right &= changed == 0 && ibdmchk != Some(false);
        text += &match changed {
            0 => "OpenSM, on a simulated network, gives the switches exactly these tables.\n".to_string(),
            n => format!(
                "OpenSM, on a simulated network, gives the switches other tables: {n} entries differ.\n"
            ),
        };
        text += match ibdmchk {
            Some(true) => "ibdmchk finds no credit loops either.\n",
            Some(false) => "ibdmchk finds fault with them.\n",
            None => "ibdmchk was not asked: it is in the Debian package ibutils.\n",
        };
        (changed_by_opensm, free_by_ibdmchk) = (Some(changed), ibdmchk);
    }
    if let Some(file) = &arguments.json {
        let traffic = if arguments.everything { "everything" } else { "end nodes" };
        let record = Record {
            network: read::name(&arguments.network),
            tables: read::name(&arguments.lfts),
            traffic,
            figures,
            changed_by_opensm,
            free_by_ibdmchk,
        };
        write(file, &(serde_json::to_string_pretty(&record).expect("numbers and words") + "\n"))?;
    }
    Ok(Verdict { text, right })
}

/// Entries that OpenSM sets otherwise, and what ibdmchk says of those that it sets.
fn through_opensm(network: &Network, table: &Table) -> Result<(usize, Option<bool>), Failure> {
    let opensm = OpenSm::find().map_err(|missing| {
        refuse(format!(
            "{missing}; install the Debian packages opensm and ibsim-utils, or leave --through-opensm out"
        ))
    })?;
    let directory = crate::commands::route::command::scratch()?;
    let file = directory.path().join("tables.lfts");
    let lids =
        lfts::Lids::of(network).ok_or_else(|| refuse("there are more destinations than addresses".into()))?;
    write(&file, &lfts::write(network, table, &lids))?;
    let sweep = opensm.sweep(network, "file", Some(&file), true, directory.path(), LIMIT)?;
    let differs =
        |to| network.switch_ids().filter(|s| sweep.table.port(*s, to) != table.port(*s, to)).count();
    Ok((table.destinations().map(differs).sum(), sweep.ibdmchk.map(|said| said == SecondJudge::Free)))
}
