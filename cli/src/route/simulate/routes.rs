//! From files and names of schemes to networks with routes.

use super::arguments::{Paths, Scheme, Simulate};
use super::refuse;
use crate::failure::Failure;
use evenkeel_fabric_simulation::{EscapeRouting, Parameters, Routes, SourceRouting, TableRouting, Wiring};
use evenkeel_route::format::{lfts, read_network};
use evenkeel_route::{ChannelOrder, Network, Random, SourceRoutes, SwitchId, SwitchOrder, schemes, tables};
use std::path::Path;
use std::time::Instant;

/// A network with its routes.
pub struct Routed {
    pub network: String,
    pub scheme: String,
    pub wiring: Wiring,
    pub routes: Routes,
    /// What finding the routes took.
    pub seconds: f64,
}

pub fn read_and_route(arguments: &Simulate, parameters: &Parameters) -> Result<Vec<Routed>, Failure> {
    let schemes = match (arguments.scheme.as_slice(), arguments.lfts.is_empty()) {
        ([], true) => &[Scheme::Bfs, Scheme::Dfs],
        (given, _) => given,
    };
    if arguments.networks.len() > 1 && !arguments.lfts.is_empty() {
        return Err(refuse("tables belong to one network: give one".into()));
    }
    let mut all = Vec::new();
    for file in &arguments.networks {
        let network = read_network_file(file).map_err(refuse)?;
        if !network.connected() || network.end_nodes().len() < 2 {
            return Err(refuse(format!("{} is in pieces, or has fewer than two hosts", file.display())));
        }
        let name = file.file_stem().map_or_else(|| file.display().to_string(), |n| n.to_string_lossy().into_owned());
        let wiring = Wiring::of(&network);
        let mut add = |scheme: String, routes: Routes, begun: Instant| {
            all.push(Routed { network: name.clone(), scheme, wiring: wiring.clone(), routes, seconds: begun.elapsed().as_secs_f64() });
        };
        for scheme in schemes {
            let begun = Instant::now();
            add(scheme.name().into(), route(&network, *scheme, arguments, parameters)?, begun);
        }
        for file in &arguments.lfts {
            let begun = Instant::now();
            let (table, _) = lfts::read(&network, &read(file)?).map_err(|e| refuse(format!("{} holds no tables of this network: {e}", file.display())))?;
            let scheme = file.file_stem().map_or_else(|| "tables".into(), |n| n.to_string_lossy().into_owned());
            add(scheme, Routes::Table(TableRouting::of(&network, &table)), begun);
        }
    }
    Ok(all)
}

/// A network from a file, or why not.
pub fn read_network_file(file: &Path) -> Result<Network, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{} cannot be read: {e}", file.display()))?;
    read_network(&text).map_err(|e| format!("{} is no network: {e}", file.display()))
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|e| refuse(format!("{} cannot be read: {e}", file.display())))
}

fn route(network: &Network, scheme: Scheme, arguments: &Simulate, parameters: &Parameters) -> Result<Routes, Failure> {
    let mut random = Random::new(arguments.seed);
    let order: SwitchOrder = match scheme {
        Scheme::Mdst => schemes::breadth_first(network, SwitchId(0)),
        Scheme::Bfs => schemes::breadth_first(network, schemes::best_root(network)),
        Scheme::Post => {
            let begins = SwitchId(random.below(network.switches().len()) as u32);
            schemes::post(network, begins, &mut random)
        }
        Scheme::Dfs | Scheme::Adaptive => schemes::depth_first(network),
    };
    let order = ChannelOrder::up_down(network, &order);
    if scheme == Scheme::Adaptive {
        if parameters.lanes < 2 {
            return Err(refuse("adaptive routing escapes by a lane of its own: it takes two lanes".into()));
        }
        let table = tables::balanced(network, &order, tables::Effort::default());
        let wiring = Wiring::of(network);
        return Ok(Routes::Escape(EscapeRouting::new(&wiring, TableRouting::of(network, &table), parameters.lanes as u8, parameters.switching)));
    }
    Ok(match arguments.paths {
        Paths::Source => Routes::Source(SourceRouting::of(network, &SourceRoutes::shortest(network, &order, &mut random))),
        Paths::Table => Routes::Table(TableRouting::of(network, &tables::balanced(network, &order, tables::Effort::default()))),
    })
}
