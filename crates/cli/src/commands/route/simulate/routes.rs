//! From files and names of schemes to networks with routes.

use super::arguments::{PathKind, RoutingScheme, SimulateArguments};
use crate::commands::route::network_file;
use crate::commands::route::opensm::{OpenSm, SWEEP_LIMIT, SweepRequest, scratch_directory};
use crate::errors::{CommandError, RouteError, RouteReason};
use crate::machine::processor_time;
use evenkeel_route::schemes::{self, AscendingSearch, GeneticParameters};
use evenkeel_route::{ChannelOrder, Network, Random, SourceRoutes, SwitchId, SwitchOrder, tables};
use evenkeel_switch_sim::{AnyRouting, EscapeRouting, Parameters, SourceRouting, TableRouting, Wiring};
use std::path::Path;
use std::time::Instant;

/// A network with its routes.
pub struct RoutedNetwork {
    /// The network's name.
    pub network: String,
    /// How it was routed.
    pub scheme: String,
    /// The network as the simulator sees it.
    pub wiring: Wiring,
    /// The routing function.
    pub routing: AnyRouting,
    /// The time spent on finding the routes.
    pub took: RoutingTime,
}

/// The time spent on finding routes.
#[derive(Clone, Copy, Debug)]
pub struct RoutingTime {
    /// Elapsed seconds.
    pub seconds: f64,
    /// Seconds of processor time, which depend less on what else the machine does.
    pub processor_seconds: f64,
}

impl RoutingTime {
    /// The result of some work, and its time. Routes are found one after the other, so that the processor
    /// time of the process belongs to this work.
    fn of<T>(work: impl FnOnce() -> Result<T, CommandError>) -> Result<(T, RoutingTime), CommandError> {
        let (begun, processor_before) = (Instant::now(), processor_time::of_this_process());
        let result = work()?;
        let seconds = begun.elapsed().as_secs_f64();
        let processor_seconds = processor_time::of_this_process() - processor_before;
        Ok((result, RoutingTime { seconds, processor_seconds }))
    }
}

/// Reads all networks and routes each of them by all schemes, tables and engines.
pub fn read_and_route(
    arguments: &SimulateArguments,
    parameters: &Parameters,
) -> Result<Vec<RoutedNetwork>, CommandError> {
    if arguments.networks.len() > 1 && !arguments.lfts.is_empty() {
        return Err(RouteError::Simulate(RouteReason::TablesOfOneNetwork).into());
    }
    let opensm = match arguments.opensm.is_empty() {
        true => None,
        false => Some(OpenSm::find().map_err(|missing| {
            RouteError::Simulate(RouteReason::OpenSmNeeded { missing, without: "leave --opensm out" })
        })?),
    };
    let mut all = Vec::new();
    for file in &arguments.networks {
        let network = network_file::network(file)?;
        let routed = Routed { file, wiring: Wiring::of(&network), network, arguments, parameters };
        all.extend(routed.by_schemes()?);
        all.extend(routed.by_files()?);
        if let Some(opensm) = &opensm {
            all.extend(routed.by_engines(opensm)?);
        }
    }
    Ok(all)
}

/// A network that is being routed.
struct Routed<'a> {
    file: &'a Path,
    network: Network,
    wiring: Wiring,
    arguments: &'a SimulateArguments,
    parameters: &'a Parameters,
}

impl Routed<'_> {
    fn routed(&self, scheme: String, routing: AnyRouting, took: RoutingTime) -> RoutedNetwork {
        let network = network_file::name(self.file);
        RoutedNetwork { network, scheme, wiring: self.wiring.clone(), routing, took }
    }

    /// By the schemes that are named; if none are, and no tables are given, by two usual ones.
    fn by_schemes(&self) -> Result<Vec<RoutedNetwork>, CommandError> {
        let schemes = match (self.arguments.scheme.as_slice(), self.arguments.lfts.is_empty()) {
            ([], true) => &[RoutingScheme::Bfs, RoutingScheme::Dfs],
            (given, _) => given,
        };
        let route = |scheme: &RoutingScheme| {
            let (routing, took) =
                RoutingTime::of(|| Ok(self.route(*scheme).map_err(RouteError::Simulate)?))?;
            Ok(self.routed(scheme.name().into(), routing, took))
        };
        schemes.iter().map(route).collect()
    }

    /// By tables from files.
    fn by_files(&self) -> Result<Vec<RoutedNetwork>, CommandError> {
        let read = |file: &Path| {
            let (routing, took) = RoutingTime::of(|| {
                let table = network_file::whole_tables(&self.network, file).map_err(RouteError::Simulate)?;
                Ok(AnyRouting::Table(TableRouting::of(&self.network, &table)))
            })?;
            Ok(self.routed(network_file::name(file), routing, took))
        };
        self.arguments.lfts.iter().map(|file| read(file)).collect()
    }

    /// By engines of OpenSM.
    fn by_engines(&self, opensm: &OpenSm) -> Result<Vec<RoutedNetwork>, CommandError> {
        let sweep = |engine: &String| {
            let directory = scratch_directory()?;
            let request = SweepRequest { engine, tables: None, with_ibdmchk: false };
            let sweep = opensm
                .simulate_and_sweep(&self.network, request, directory.path(), SWEEP_LIMIT)
                .map_err(RouteReason::from)?;
            let took = RoutingTime { seconds: sweep.seconds, processor_seconds: sweep.processor_seconds };
            let routing = AnyRouting::Table(TableRouting::of(&self.network, &sweep.table));
            Ok(self.routed(format!("opensm {engine}"), routing, took))
        };
        self.arguments.opensm.iter().map(sweep).collect()
    }

    fn route(&self, scheme: RoutingScheme) -> Result<AnyRouting, RouteReason> {
        let (network, mut random) = (&self.network, Random::new(self.arguments.seed));
        let order = channel_order(network, scheme, self.arguments.seed, &mut random);
        let balanced = || tables::balanced(network, &order, tables::BalanceEffort::default());
        if scheme == RoutingScheme::Adaptive {
            if self.parameters.lanes < 2 {
                return Err(RouteReason::AdaptiveNeedsTwoLanes);
            }
            return Ok(AnyRouting::Escape(EscapeRouting::new(
                &self.wiring,
                TableRouting::of(network, &balanced()),
                self.parameters.lanes as u8,
                self.parameters.switching,
            )));
        }
        Ok(match self.arguments.paths {
            PathKind::Source => {
                let routes = SourceRoutes::shortest(network, &order, &mut random);
                AnyRouting::Source(SourceRouting::of(network, &routes))
            }
            PathKind::Table => AnyRouting::Table(TableRouting::of(network, &balanced())),
        })
    }
}

/// The order of channels by which a scheme routes.
fn channel_order(network: &Network, scheme: RoutingScheme, seed: u64, random: &mut Random) -> ChannelOrder {
    let by_switches = |order: SwitchOrder| ChannelOrder::up_down(network, &order);
    let best_root = || schemes::breadth_first(network, schemes::best_root(network));
    match scheme {
        RoutingScheme::Mdst => by_switches(schemes::breadth_first(network, SwitchId(0))),
        RoutingScheme::Bfs => by_switches(best_root()),
        RoutingScheme::Post => {
            let begins = SwitchId(random.below(network.switches().len()) as u32);
            by_switches(schemes::propagation_order(network, begins, random))
        }
        RoutingScheme::Dfs | RoutingScheme::Adaptive => by_switches(schemes::depth_first(network)),
        RoutingScheme::Genetic => {
            let seeds = [best_root(), schemes::depth_first(network)];
            let fitness = &mut schemes::static_fitness(network);
            by_switches(schemes::genetic(network, &seeds, GeneticParameters::default(), fitness, random))
        }
        RoutingScheme::Ascending => {
            schemes::ascending(network, AscendingSearch { effort: 1.0, seed }, &mut |_| {})
        }
    }
}
