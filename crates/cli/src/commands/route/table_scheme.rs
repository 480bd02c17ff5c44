//! The schemes by the names that the command line has for them.

use clap::ValueEnum;
use evenkeel_route::schemes::{self, AscendingSearch, GeneticParameters, MOST_EXHAUSTIVE};
use evenkeel_route::{ChannelOrder, Network, Random, SwitchId, SwitchOrder, Table, tables};

/// Ways to compute tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableScheme {
    /// our own: a search among the orders of the channels for short paths and low loads
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
    /// minimal paths, balanced; they can deadlock on one lane: for comparison
    Minimal,
}

impl TableScheme {
    /// As on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().expect("none is skipped").get_name().into()
    }

    /// All that make sense for a network, without those that only the patient would wait for.
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

/// The tables of a scheme, or why there are none. `progress` is told the share that is done.
pub fn compute(
    network: &Network,
    scheme: TableScheme,
    lanes: u8,
    seed: u64,
    effort: f64,
    progress: &mut dyn FnMut(f64),
) -> Result<Table, String> {
    let spread = tables::BalanceEffort::fitting(network);
    if scheme == TableScheme::Ascending {
        let search = AscendingSearch { effort, seed };
        if lanes == 1 {
            return Ok(tables::balanced(network, &schemes::ascending(network, search, progress), spread));
        }
        let (orders, lane) = schemes::ascending_lanes(network, search, lanes, progress);
        return Ok(tables::balanced_lanes(network, &orders, &lane, spread));
    }
    if lanes != 1 {
        return Err(format!("only the scheme `ascending` uses several lanes; `{}` uses one", scheme.name()));
    }
    let random = &mut Random::new(seed);
    let best_root = || schemes::breadth_first(network, schemes::best_root(network));
    let depth_first = || {
        if network.switches().len() <= 256 {
            schemes::depth_first(network)
        } else {
            schemes::depth_first_from(network, schemes::best_root(network))
        }
    };
    let order: SwitchOrder = match scheme {
        TableScheme::Ascending => unreachable!("it is no order of switches"),
        TableScheme::Minimal => return Ok(tables::minimal(network, spread)),
        TableScheme::Mdst => schemes::breadth_first(network, SwitchId(0)),
        TableScheme::Bfs => best_root(),
        TableScheme::Post => {
            let begins = SwitchId(random.below(network.switches().len()) as u32);
            schemes::propagation_order(network, begins, random)
        }
        TableScheme::Dfs => depth_first(),
        TableScheme::Genetic => {
            let seeds = [best_root(), depth_first()];
            schemes::genetic(
                network,
                &seeds,
                GeneticParameters::default(),
                &mut schemes::static_fitness(network),
                random,
            )
        }
        TableScheme::Local => {
            schemes::local_search(network, &depth_first(), 500, &mut schemes::static_fitness(network), random)
        }
        TableScheme::Exhaustive if network.switches().len() > MOST_EXHAUSTIVE => {
            return Err(format!(
                "all orders can be tried for {MOST_EXHAUSTIVE} switches at most, and there are {}",
                network.switches().len()
            ));
        }
        TableScheme::Exhaustive => schemes::exhaustive(network, &mut schemes::static_fitness(network)),
    };
    Ok(tables::balanced(network, &ChannelOrder::up_down(network, &order), spread))
}
