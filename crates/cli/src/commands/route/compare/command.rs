//! `evenkeel route compare`: all schemes and OpenSM's engines on the same networks.

use crate::commands::report::command as record_file;
use crate::commands::route::arguments::Compare;
use crate::commands::route::command::{progress_bar, refuse};
use crate::commands::route::figures::Figures;
use crate::commands::route::network_file as read;
use crate::commands::route::opensm::subnet::{OpenSm, SecondJudge};
use crate::commands::route::table_scheme::{self as scheme, TableScheme};
use crate::errors::Failure;
use crate::machine::processor_time;
use crate::output::file::write;
use evenkeel_route::check::check;
use evenkeel_route::format::lfts;
use evenkeel_route::{Network, Table};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};
use evenkeel_text::units::count;
use serde::Serialize;
use std::time::{Duration, Instant};

const COLUMNS: &[Column] = &[
    Column { group: "", head: "scheme", dispensable: 0 },
    Column { group: "", head: "deadlock", dispensable: 0 },
    Column { group: "hops", head: "mean", dispensable: 0 },
    Column { group: "hops", head: "most", dispensable: 3 },
    Column { group: "hops", head: "longer", dispensable: 2 },
    Column { group: "load of channels", head: "busiest", dispensable: 0 },
    Column { group: "load of channels", head: "mean", dispensable: 4 },
    Column { group: "", head: "ibdmchk", dispensable: 5 },
    Column { group: "seconds", head: "elapsed", dispensable: 2 },
    Column { group: "seconds", head: "processor", dispensable: 1 },
];

/// OpenSM's engines that are tried if nothing is said: its default, its two for irregular networks, and
/// minimal paths with balance.
const ENGINES: [&str; 4] = ["minhop", "updn", "nue", "sssp"];

#[derive(Serialize)]
struct Row {
    network: String,
    switches: usize,
    end_nodes: usize,
    cables: usize,
    scheme: String,
    /// For OpenSM a whole sweep.
    seconds: f64,
    /// Processor time of the same: it does not depend on what else the machine does.
    processor_seconds: f64,
    /// Nothing if there are no tables.
    figures: Option<Figures>,
    /// Whether ibdmchk finds the tables free of credit loops; nothing if it was not asked, or the tables
    /// did not come from OpenSM.
    free_by_ibdmchk: Option<bool>,
    /// What went otherwise than asked for.
    note: Option<String>,
}

/// Compares, writes the record, and returns what is printed.
pub fn compare(arguments: &Compare) -> Result<String, Failure> {
    if let Some(file) = &arguments.json {
        record_file::check_place(file)?;
    }
    let mut networks: Vec<(String, Network)> = Vec::new();
    for file in &arguments.networks {
        networks.push((read::name(file), read::network(file)?));
    }
    let (opensm, engines, missing) = engines(arguments)?;
    let limit = Duration::from_secs(arguments.limit);
    let suited = |network: &Network| {
        if arguments.scheme.is_empty() { TableScheme::suited(network) } else { arguments.scheme.clone() }
    };
    let all: usize = networks.iter().map(|(_, network)| suited(network).len() + engines.len()).sum();
    let bar = progress_bar(all as u64);
    let width = record_file::terminal().0.clamp(60, 160);
    let (mut text, mut rows) = (String::new(), Vec::new());
    for (name, network) in &networks {
        let first = rows.len();
        let row = |scheme: String,
                   (seconds, processor_seconds): (f64, f64),
                   figures: Option<Figures>,
                   note: Option<String>| {
            let (switches, end_nodes, cables) =
                (network.switches().len(), network.end_nodes().len(), network.channels() / 2);
            Row {
                network: name.clone(),
                switches,
                end_nodes,
                cables,
                scheme,
                seconds,
                processor_seconds,
                figures,
                free_by_ibdmchk: None,
                note,
            }
        };
        for scheme in suited(network) {
            bar.set_message(format!("{name}: {}", scheme.name()));
            let (begun, processor, done) =
                (Instant::now(), processor_time::of_this_process(), rows.len() as f64);
            let mut progress = |share: f64| bar.set_position(((done + share) * 1000.0) as u64);
            rows.push(match scheme::compute(network, scheme, 1, arguments.seed, 1.0, &mut progress) {
                Ok(tables) => {
                    let seconds =
                        (begun.elapsed().as_secs_f64(), processor_time::of_this_process() - processor);
                    let judged = if arguments.ibdmchk {
                        loaded(opensm.as_ref(), network, &tables, limit)?
                    } else {
                        None
                    };
                    Row {
                        free_by_ibdmchk: judged,
                        ..row(
                            scheme.name(),
                            seconds,
                            Some(Figures::of(network, &check(network, &tables))),
                            None,
                        )
                    }
                }
                Err(why) => row(scheme.name(), (0.0, 0.0), None, Some(why)),
            });
            bar.set_position(rows.len() as u64 * 1000);
        }
        for engine in &engines {
            bar.set_message(format!("{name}: OpenSM's {engine}"));
            let directory = crate::commands::route::command::scratch()?;
            let opensm = opensm.as_ref().expect("there are engines only if it was found");
            let scheme = format!("OpenSM {engine}");
            rows.push(
                match opensm.sweep(network, engine, None, arguments.ibdmchk, directory.path(), limit) {
                    Ok(sweep) => {
                        let note = sweep
                            .used
                            .filter(|used| used != engine)
                            .map(|used| format!("it gave up, and OpenSM used `{used}` instead"));
                        let figures = Figures::of(network, &check(network, &sweep.table));
                        Row {
                            free_by_ibdmchk: sweep.ibdmchk.map(|said| said == SecondJudge::Free),
                            ..row(scheme, (sweep.seconds, sweep.processor_seconds), Some(figures), note)
                        }
                    }
                    Err(failure) => row(scheme, (0.0, 0.0), None, Some(failure.to_string())),
                },
            );
            bar.set_position(rows.len() as u64 * 1000);
        }
        text += &shown(name, network, &rows[first..], width);
    }
    bar.finish_and_clear();
    let mut notes = LEGEND.to_string();
    notes += &missing.map_or(String::new(), |missing| {
        format!(
            " OpenSM's engines were left out, as {missing}: the Debian packages are opensm and ibsim-utils."
        )
    });
    wrap(&notes, width, "").into_iter().for_each(|line| text += &format!("{line}\n"));
    if let Some(file) = &arguments.json {
        write(file, &(serde_json::to_string_pretty(&rows).expect("numbers and words") + "\n"))?;
    }
    Ok(text)
}

/// What ibdmchk says of tables once OpenSM has loaded them.
fn loaded(
    opensm: Option<&OpenSm>,
    network: &Network,
    tables: &Table,
    limit: Duration,
) -> Result<Option<bool>, Failure> {
    let (Some(opensm), Some(lids)) = (opensm, lfts::Lids::of(network)) else { return Ok(None) };
    let directory = crate::commands::route::command::scratch()?;
    let file = directory.path().join("tables.lfts");
    write(&file, &lfts::write(network, tables, &lids))?;
    let sweep = opensm.sweep(network, "file", Some(&file), true, directory.path(), limit)?;
    let same = tables
        .destinations()
        .all(|to| network.switch_ids().all(|s| sweep.table.port(s, to) == tables.port(s, to)));
    if !same {
        return Err(refuse("OpenSM changed tables that it was given".into()));
    }
    Ok(sweep.ibdmchk.map(|said| said == SecondJudge::Free))
}

const LEGEND: &str = "deadlock: whether packets can wait for each other in a ring, on one lane. hops: channels of a path. longer: paths that are not minimal. \
                      load: ordered pairs of end nodes over a channel. ibdmchk: what it says of the tables as OpenSM sets them (--ibdmchk). seconds: for OpenSM a whole sweep, which reads the network and sets the tables as well.";

/// OpenSM, the engines to try, and why there are none although nobody said so.
fn engines(arguments: &Compare) -> Result<(Option<OpenSm>, Vec<String>, Option<String>), Failure> {
    match (&arguments.opensm, OpenSm::find()) {
        // ibdmchk judges what OpenSM sets, also where its own engines are of no interest.
        (Some(engines), opensm) if engines.iter().all(|e| e == "none") => Ok((opensm.ok(), Vec::new(), None)),
        (Some(_), Err(missing)) => Err(refuse(format!(
            "{missing}; install the Debian packages opensm and ibsim-utils, or say --opensm none"
        ))),
        (Some(engines), Ok(opensm)) => Ok((Some(opensm), engines.clone(), None)),
        (None, Ok(opensm)) => Ok((Some(opensm), ENGINES.map(String::from).to_vec(), None)),
        (None, Err(missing)) => Ok((None, Vec::new(), Some(missing))),
    }
}

fn shown(name: &str, network: &Network, rows: &[Row], width: usize) -> String {
    let cells = |row: &Row| {
        let mut cells = vec![row.scheme.clone()];
        match &row.figures {
            None => cells.extend(["-"; 9].map(String::from)),
            Some(f) => {
                let verdict = if f.broken > 0 {
                    "BROKEN"
                } else if f.sound {
                    "no"
                } else {
                    "YES"
                };
                cells.extend([
                    verdict.into(),
                    format!("{:.3}", f.mean_hops),
                    f.longest_path.to_string(),
                    format!("{:.1}%", 100.0 * f.longer_share),
                    count(f.busiest_load),
                    format!("{:.0}", f.mean_load),
                    row.free_by_ibdmchk.map_or("-", |free| if free { "free" } else { "LOOP" }).into(),
                    format!("{:.2}", row.seconds),
                    format!("{:.2}", row.processor_seconds),
                ]);
            }
        }
        cells
    };
    let mut text = format!(
        "{name}: {} switches, {} end nodes, {} cables between switches\n",
        network.switches().len(),
        network.end_nodes().len(),
        network.channels() / 2
    );
    for line in table(COLUMNS, &rows.iter().map(cells).collect::<Vec<_>>(), width).lines() {
        text += &format!("{line}\n");
    }
    for row in rows {
        if let Some(note) = &row.note {
            wrap(&format!("{}: {note}.", row.scheme), width, "  ")
                .into_iter()
                .for_each(|line| text += &format!("{line}\n"));
        }
    }
    text + "\n"
}
