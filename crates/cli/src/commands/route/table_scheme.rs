//! The schemes by which tables are computed, under their names on the command line.

use crate::errors::RouteReason;
use clap::ValueEnum;
use evenkeel_route::schemes::{self, AscendingSearch, GeneticParameters, MOST_EXHAUSTIVE};
use evenkeel_route::{ChannelOrder, Network, Random, SwitchId, SwitchOrder, Table, tables};

/// How tables are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableScheme {
    /// evenkeel's own: a search among the orders of the channels for short paths and low loads
    Ascending,
    /// up*/down* by a breadth-first tree from the switch with the lowest number (Autonet; MDST)
    Mdst,
    /// up*/down* by a breadth-first tree from the most central switch
    Bfs,
    /// up*/down* by the tree that a flood from a switch makes, drawn by the seed (POST)
    Post,
    /// up*/down* by the best depth-first tree, of those from all switches (up to 256; from the most central
    /// one in larger networks)
    Dfs,
    /// up*/down* by a genetic search among orders of the switches
    Genetic,
    /// up*/down* by moving one switch at a time, from the depth-first order
    Local,
    /// up*/down* by the best of all orders, for eight switches at most
    Exhaustive,
    /// minimal paths, balanced; they can deadlock on one lane; for comparison only
    Minimal,
}

impl TableScheme {
    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().expect("none is skipped").get_name().into()
    }

    /// All schemes that suit a network, without those that would take very long on it.
    pub fn suited(network: &Network) -> Vec<TableScheme> {
        let switches = network.switches().len();
        let suits = |scheme: &TableScheme| match scheme {
            TableScheme::Genetic | TableScheme::Local => switches <= 128,
            TableScheme::Exhaustive => switches <= MOST_EXHAUSTIVE,
            _ => true,
        };
        TableScheme::value_variants().iter().copied().filter(suits).collect()
    }
}

/// What is to be computed.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// How.
    pub scheme: TableScheme,
    /// Virtual lanes that packets may use.
    pub lanes: u8,
    /// The seed of what is random.
    pub seed: u64,
    /// How much to search; 1 is usual.
    pub effort: f64,
}

/// The largest network on which depth-first trees from all switches are compared.
const MOST_FOR_ALL_TREES: usize = 256;
/// Steps of the local search.
const LOCAL_STEPS: usize = 500;

impl Request {
    /// Computes the tables. `progress` is told the share that is done.
    pub fn compute(&self, network: &Network, progress: &mut dyn FnMut(f64)) -> Result<Table, RouteReason> {
        let spread = tables::BalanceEffort::fitting(network);
        if self.scheme == TableScheme::Ascending {
            return Ok(self.ascending(network, spread, progress));
        }
        if self.lanes != 1 {
            return Err(RouteReason::OneLaneOnly { scheme: self.scheme.name() });
        }
        if self.scheme == TableScheme::Minimal {
            return Ok(tables::minimal(network, spread));
        }
        let order = self.switch_order(network)?;
        Ok(tables::balanced(network, &ChannelOrder::up_down(network, &order), spread))
    }

    fn ascending(
        &self,
        network: &Network,
        spread: tables::BalanceEffort,
        progress: &mut dyn FnMut(f64),
    ) -> Table {
        let search = AscendingSearch { effort: self.effort, seed: self.seed };
        if self.lanes == 1 {
            return tables::balanced(network, &schemes::ascending(network, search, progress), spread);
        }
        let (orders, lane) = schemes::ascending_lanes(network, search, self.lanes, progress);
        tables::balanced_lanes(network, &orders, &lane, spread)
    }

    /// The order of switches of an up*/down* scheme.
    fn switch_order(&self, network: &Network) -> Result<SwitchOrder, RouteReason> {
        let random = &mut Random::new(self.seed);
        let switches = network.switches().len();
        let best_root = || schemes::breadth_first(network, schemes::best_root(network));
        let depth_first = || match switches <= MOST_FOR_ALL_TREES {
            true => schemes::depth_first(network),
            false => schemes::depth_first_from(network, schemes::best_root(network)),
        };
        Ok(match self.scheme {
            TableScheme::Ascending | TableScheme::Minimal => unreachable!("they order no switches"),
            TableScheme::Mdst => schemes::breadth_first(network, SwitchId(0)),
            TableScheme::Bfs => best_root(),
            TableScheme::Post => {
                let begins = SwitchId(random.below(switches) as u32);
                schemes::propagation_order(network, begins, random)
            }
            TableScheme::Dfs => depth_first(),
            TableScheme::Genetic => {
                let seeds = [best_root(), depth_first()];
                let fitness = &mut schemes::static_fitness(network);
                schemes::genetic(network, &seeds, GeneticParameters::default(), fitness, random)
            }
            TableScheme::Local => {
                let fitness = &mut schemes::static_fitness(network);
                schemes::local_search(network, &depth_first(), LOCAL_STEPS, fitness, random)
            }
            TableScheme::Exhaustive if switches > MOST_EXHAUSTIVE => {
                return Err(RouteReason::TooManySwitches { most: MOST_EXHAUSTIVE, switches });
            }
            TableScheme::Exhaustive => schemes::exhaustive(network, &mut schemes::static_fitness(network)),
        })
    }
}
