//! Carries out `evenkeel route compare`.

use super::arguments::CompareArguments;
use super::comparison::{Comparison, Row};
use super::table;
use crate::commands::route::network_file;
use crate::commands::route::opensm::OpenSm;
use crate::commands::route::table_scheme::TableScheme;
use crate::errors::{CommandError, OpenSmError, RouteReason};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_route::Network;
use evenkeel_text::page::Page;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// OpenSM's engines that are tried if none are asked for: its default, its two for irregular networks, and
/// minimal paths with balance.
const USUAL_ENGINES: [&str; 4] = ["minhop", "updn", "nue", "sssp"];

/// Compares, writes the record, and returns what is printed.
pub fn compare(arguments: &CompareArguments) -> Result<String, CommandError> {
    let inputs: Vec<&Path> = arguments.networks.iter().map(PathBuf::as_path).collect();
    file::check_outputs(&[("--json", arguments.json.as_deref())], &inputs)?;
    let mut networks: Vec<(String, Network)> = Vec::new();
    for file in &arguments.networks {
        networks.push((network_file::name(file), network_file::network(file)?));
    }
    let engines = Engines::find(arguments)?;
    let schemes = |network: &Network| match arguments.scheme.is_empty() {
        true => TableScheme::suited(network),
        false => arguments.scheme.clone(),
    };
    let all = networks.iter().map(|(_, network)| schemes(network).len() + engines.names.len()).sum();
    let progress = Progress::new("comparing", all);
    let mut page = Page::new(terminal::width());
    let mut rows: Vec<Row> = Vec::new();
    for (name, network) in &networks {
        let comparison = Comparison {
            name,
            network,
            opensm: engines.opensm.as_ref(),
            with_ibdmchk: arguments.ibdmchk,
            limit: Duration::from_secs(arguments.limit),
        };
        let first = rows.len();
        for scheme in schemes(network) {
            progress.show(format!("{name}: {}", scheme.name()));
            rows.push(comparison.scheme(scheme, arguments.seed, &mut |share| progress.set_share(share))?);
            progress.finish_task();
        }
        for engine in &engines.names {
            progress.show(format!("{name}: OpenSM's {engine}"));
            rows.push(comparison.engine(engine)?);
            progress.finish_task();
        }
        table::add(name, network, &rows[first..], &mut page);
    }
    drop(progress);
    let missing = engines.missing.map_or(String::new(), |missing| {
        format!(
            " OpenSM's engines were left out, because {missing}: the Debian packages are opensm and \
                 ibsim-utils."
        )
    });
    page.paragraph(&format!("{}{missing}", table::LEGEND));
    if let Some(json) = &arguments.json {
        file::write_json(json, &rows)?;
    }
    Ok(page.text())
}

/// The engines of OpenSM that are compared.
struct Engines {
    opensm: Option<OpenSm>,
    names: Vec<String>,
    /// Why there are none although none were excluded.
    missing: Option<OpenSmError>,
}

impl Engines {
    fn find(arguments: &CompareArguments) -> Result<Engines, RouteReason> {
        let found = OpenSm::find();
        match (&arguments.opensm, found) {
            // ibdmchk checks what OpenSM sets, also where OpenSM's own engines are not compared.
            (Some(names), found) if names.iter().all(|name| name == "none") => {
                Ok(Engines { opensm: found.ok(), names: Vec::new(), missing: None })
            }
            (Some(_), Err(missing)) => {
                Err(RouteReason::OpenSmNeeded { missing, without: "say --opensm none" })
            }
            (Some(names), Ok(opensm)) => {
                Ok(Engines { opensm: Some(opensm), names: names.clone(), missing: None })
            }
            (None, Ok(opensm)) => {
                let names = USUAL_ENGINES.map(String::from).to_vec();
                Ok(Engines { opensm: Some(opensm), names, missing: None })
            }
            (None, Err(missing)) => Ok(Engines { opensm: None, names: Vec::new(), missing: Some(missing) }),
        }
    }
}
