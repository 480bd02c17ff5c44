//! `evenkeel route plan`: from today's tables to tomorrow's under traffic, as files for OpenSM.

use super::rehearsal::{Rehearsal, rehearse};
use crate::commands::report::command as record_file;
use crate::commands::route::command::Verdict;
use crate::commands::route::network_file as read;
use crate::errors::Failure;
use crate::output::file::write;
use evenkeel_route::format::lfts;
use evenkeel_route::plan::{UpdatePlan as Found, plan, prove, usual_targets};
use evenkeel_route::{Network, Random, check};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Lead a changed network from today's tables to tomorrow's without stopping traffic
///
/// Prints steps of table updates. Within a step updates may reach the switches in any order; whatever
/// has arrived, nobody loses a path and nothing can deadlock, which is proved for each step. Begin the
/// next step when the last has arrived everywhere and packets under way have left.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel route plan old.topo opensm-lfts.dump new.topo
  evenkeel route plan old.topo opensm-lfts.dump new.topo --out steps     steps/1.lfts, 2.lfts, ...: the tables after each step
  evenkeel route plan old.topo opensm-lfts.dump new.topo --through-opensm    a rehearsal first (takes opensm and ibsim)

OpenSM reads its file of tables anew when it gets SIGHUP. If it was started with opensm -R file -U current.lfts:
  cp steps/1.lfts current.lfts; kill -HUP $(pidof opensm)     then 2.lfts, and so on

The new network is the one that is there while the plan is carried out: without what has failed, or is to be unplugged; with what was added.")]
pub struct Plan {
    /// The network that today's tables were made for
    #[arg(value_name = "NET")]
    pub network: PathBuf,
    /// Today's tables, as OpenSM dumps them
    #[arg(value_name = "LFTS")]
    pub lfts: PathBuf,
    /// The network as it is now
    #[arg(value_name = "NEWNET")]
    pub new_network: PathBuf,
    /// Steps that may be spent on shortening paths once all are there
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub improve: u32,
    /// Write the tables after each step to files in a directory, which is made
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Have OpenSM carry the plan out on a simulated network, and both judges look at what is there on the
    /// way
    ///
    /// Sets today's tables, then for each step some random mixtures of old and new entries, then the tables
    /// after the step; compares what the switches get, and asks evenkeel's checker and, where all paths are
    /// there, ibdmchk for rings of waiting packets. The exit code is 1 if anything differs or is found.
    #[arg(long)]
    pub through_opensm: bool,
    /// Random mixtures of each step's old and new entries that --through-opensm looks at
    #[arg(long, default_value_t = 2, value_name = "N", requires = "through_opensm")]
    pub mixtures: u32,
    /// What they are drawn from
    #[arg(long, default_value_t = 1, value_name = "N", requires = "through_opensm")]
    pub seed: u64,
    /// Write the changes of each step to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

const COLUMNS: &[Column] = &[
    Column { group: "", head: "step", dispensable: 0 },
    Column { group: "", head: "entries", dispensable: 0 },
    Column { group: "", head: "switches", dispensable: 0 },
    Column { group: "", head: "destinations", dispensable: 1 },
    Column { group: "", head: "any order", dispensable: 0 },
];

/// Plans, proves each step, rehearses if asked to, writes the files that were asked for, and returns
/// what is printed.
pub fn act(arguments: &Plan) -> Result<Verdict, Failure> {
    let refuse = |why: String| Failure::RoutePlan { why };
    let old = read::network(&arguments.network)?;
    let new = read::network(&arguments.new_network)?;
    let unread = |e| refuse(format!("{} holds no tables: {e}", arguments.lfts.display()));
    // By GUID and port, so that the numbers of switches and addresses may differ.
    let (before, _) = read::tables(&old, &arguments.lfts)?;
    let lids = |network: &Network| {
        lfts::Lids::of(network).ok_or_else(|| refuse("there are more destinations than addresses".into()))
    };
    let (today, _) = lfts::read(&new, &lfts::write(&old, &before, &lids(&old)?)).map_err(unread)?;
    let found =
        plan(&new, &today, arguments.improve, &usual_targets(&new)).map_err(|e| refuse(e.to_string()))?;
    let mut states = vec![today];
    for (i, step) in found.steps.iter().enumerate() {
        let after = step.applied(&states[i]);
        prove(&new, &states[i], &after).map_err(|e| refuse(format!("step {} would be wrong: {e}", i + 1)))?;
        states.push(after);
    }
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::Unwritable { path: folder.clone(), why: e.to_string() })?;
        for (i, state) in states.iter().enumerate().skip(1) {
            write(&folder.join(format!("{i}.lfts")), &lfts::write(&new, state, &lids(&new)?))?;
        }
    }
    let rehearsal = match arguments.through_opensm {
        true => Some(rehearse(
            &new,
            &states[0],
            &found.steps,
            arguments.mixtures,
            &mut Random::new(arguments.seed),
        )?),
        false => None,
    };
    if let Some(file) = &arguments.json {
        write(file, &record(&new, &found, rehearsal.as_ref()))?;
    }
    let width = record_file::terminal().0;
    let mut text = said(&new, &found, width);
    if let Some(rehearsal) = &rehearsal {
        text += &(String::from("\n") + &wrap(&rehearsal.said(), width, "").join("\n") + "\n");
    }
    Ok(Verdict { text, right: rehearsal.is_none_or(|r| r.right()) })
}

fn said(network: &Network, found: &Found, width: usize) -> String {
    let row = |(i, step): (usize, &evenkeel_route::plan::UpdateStep)| {
        let switches: BTreeSet<u32> = step.changes.iter().map(|c| c.at.0).collect();
        let destinations: BTreeSet<_> = step.changes.iter().map(|c| c.to).collect();
        [
            (i + 1).to_string(),
            step.changes.len().to_string(),
            switches.len().to_string(),
            destinations.len().to_string(),
            "proved".into(),
        ]
        .to_vec()
    };
    let mut lines = if found.steps.is_empty() {
        vec!["Nothing has to be changed.".to_string()]
    } else {
        table(COLUMNS, &found.steps.iter().enumerate().map(row).collect::<Vec<_>>(), width).lines().collect()
    };
    lines.push(String::new());
    let end = check::check(network, &found.end);
    let sentence = match found.missing_paths.len() {
        0 => format!(
            "At the end all {} pairs of end nodes reach each other, in {:.2} hops on average (at least {:.2}); the busiest channel carries {} of them.",
            end.pairs,
            end.mean_hops(),
            end.mean_minimal_hops(),
            end.max_load()
        ),
        n => format!(
            "{n} paths could not be restored by these rules; for these, tables have to be loaded anew with traffic stopped."
        ),
    };
    lines.extend(wrap(&sentence, width, ""));
    lines.join("\n") + "\n"
}

fn record(network: &Network, found: &Found, rehearsal: Option<&Rehearsal>) -> String {
    let guid = |to| match to {
        evenkeel_route::Destination::EndNode(e) => network.end_node(e).port_guid,
        evenkeel_route::Destination::Switch(s) => network.switch(s).guid,
    };
    let change = |c: &evenkeel_route::plan::EntryChange| json!({"switch": format!("0x{:016x}", network.switch(c.at).guid), "destination": format!("0x{:016x}", guid(c.to)), "port": c.port.0});
    let steps: Vec<_> =
        found.steps.iter().map(|s| s.changes.iter().map(change).collect::<Vec<_>>()).collect();
    serde_json::to_string_pretty(
        &json!({"steps": steps, "lost": found.missing_paths.len(), "rehearsal": rehearsal}),
    )
    .expect("numbers and texts")
        + "\n"
}
