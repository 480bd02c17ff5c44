//! From files and names of schemes to networks with routes.

use super::arguments::{Paths, Scheme, Simulate};
use super::command::refuse;
use crate::commands::route::command::scratch;
use crate::commands::route::network_file as read;
use crate::commands::route::opensm::subnet::OpenSm;
use crate::errors::Failure;
use crate::machine::processor_time;
use evenkeel_route::schemes::{self, AscendingSearch, GeneticParameters};
use evenkeel_route::{ChannelOrder, Network, Random, SourceRoutes, SwitchId, SwitchOrder, tables};
use evenkeel_switch_sim::{EscapeRouting, Parameters, Routes, SourceRouting, TableRouting, Wiring};
use std::time::{Duration, Instant};

/// A network with its routes.
pub struct Routed {
    pub network: String,
    pub scheme: String,
    pub wiring: Wiring,
    pub routes: Routes,
    /// What finding the routes took.
    pub took: Took,
}

/// What finding routes took.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    pub seconds: f64,
    /// Of the processor: it depends less on what else the machine does.
    pub processor_seconds: f64,
}

/// From when on it is counted. Routes are found one after the other, so that what the process takes in
/// the meantime is theirs.
struct Begun {
    at: Instant,
    processor_seconds: f64,
}

impl Begun {
    fn now() -> Begun {
        Begun { at: Instant::now(), processor_seconds: processor_time::of_this_process() }
    }

    fn took(&self) -> Took {
        Took {
            seconds: self.at.elapsed().as_secs_f64(),
            processor_seconds: processor_time::of_this_process() - self.processor_seconds,
        }
    }
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
    let opensm = if arguments.opensm.is_empty() {
        None
    } else {
        Some(OpenSm::find().map_err(|why| refuse(format!("{why}: install opensm and ibsim-utils")))?)
    };
    for file in &arguments.networks {
        let network = read::network(file)?;
        let name = read::name(file);
        let wiring = Wiring::of(&network);
        let mut add = |scheme: String, routes: Routes, took: Took| {
            all.push(Routed { network: name.clone(), scheme, wiring: wiring.clone(), routes, took });
        };
        for scheme in schemes {
            let begun = Begun::now();
            let routes = route(&network, *scheme, arguments, parameters)?;
            add(scheme.name().into(), routes, begun.took());
        }
        for file in &arguments.lfts {
            let begun = Begun::now();
            let (table, _) = read::tables(&network, file)?;
            let routes = Routes::Table(TableRouting::of(&network, &table));
            add(read::name(file), routes, begun.took());
        }
        for (engine, opensm) in
            arguments.opensm.iter().flat_map(|engine| opensm.as_ref().map(|o| (engine, o)))
        {
            let scratch = scratch()?;
            let sweep = opensm.sweep(&network, engine, None, false, scratch.path(), OPENSM_LIMIT)?;
            add(
                format!("opensm {engine}"),
                Routes::Table(TableRouting::of(&network, &sweep.table)),
                Took { seconds: sweep.seconds, processor_seconds: sweep.processor_seconds },
            );
        }
    }
    Ok(all)
}

/// What OpenSM may take for a network.
const OPENSM_LIMIT: Duration = Duration::from_secs(120);

fn route(
    network: &Network,
    scheme: Scheme,
    arguments: &Simulate,
    parameters: &Parameters,
) -> Result<Routes, Failure> {
    let mut random = Random::new(arguments.seed);
    let by_switches = |order: SwitchOrder| ChannelOrder::up_down(network, &order);
    let order: ChannelOrder = match scheme {
        Scheme::Mdst => by_switches(schemes::breadth_first(network, SwitchId(0))),
        Scheme::Bfs => by_switches(schemes::breadth_first(network, schemes::best_root(network))),
        Scheme::Post => {
            let begins = SwitchId(random.below(network.switches().len()) as u32);
            by_switches(schemes::propagation_order(network, begins, &mut random))
        }
        Scheme::Dfs | Scheme::Adaptive => by_switches(schemes::depth_first(network)),
        Scheme::Genetic => {
            let seeds =
                [schemes::breadth_first(network, schemes::best_root(network)), schemes::depth_first(network)];
            by_switches(schemes::genetic(
                network,
                &seeds,
                GeneticParameters::default(),
                &mut schemes::static_fitness(network),
                &mut random,
            ))
        }
        Scheme::Ascending => {
            schemes::ascending(network, AscendingSearch { effort: 1.0, seed: arguments.seed }, &mut |_| {})
        }
    };
    if scheme == Scheme::Adaptive {
        if parameters.lanes < 2 {
            return Err(refuse("adaptive routing escapes by a lane of its own: it takes two lanes".into()));
        }
        let table = tables::balanced(network, &order, tables::BalanceEffort::default());
        let wiring = Wiring::of(network);
        return Ok(Routes::Escape(EscapeRouting::new(
            &wiring,
            TableRouting::of(network, &table),
            parameters.lanes as u8,
            parameters.switching,
        )));
    }
    Ok(match arguments.paths {
        Paths::Source => {
            Routes::Source(SourceRouting::of(network, &SourceRoutes::shortest(network, &order, &mut random)))
        }
        Paths::Table => Routes::Table(TableRouting::of(
            network,
            &tables::balanced(network, &order, tables::BalanceEffort::default()),
        )),
    })
}
