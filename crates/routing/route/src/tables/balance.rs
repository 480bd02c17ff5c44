//! Tables whose paths are spread over the channels: built with an eye on the load so far, rebuilt, then
//! mended where they are worst.

mod paths;
mod rebalance;

use super::{Graph, Places, TreeBuilder};
use crate::network::{Channel, Network, Port, SwitchId};
use crate::order::ChannelOrder;
use crate::table::{Destination, Table};
use paths::Paths;

/// How much work goes into balance. It is counted in steps, not seconds, so that the same effort gives
/// the same tables everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// How often every end node's tree is built anew among the others'.
    pub rounds: u32,
    /// How many trees are looked at, at most, to take load off the busiest channel; for each channel of the
    /// network.
    pub looks: u32,
    /// How much longer paths may become by that, in the mean, as a share of what they are longer than
    /// minimal paths already. Where all paths are minimal, they stay so.
    pub longer: f64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { rounds: 3, looks: 400, longer: 0.1 }
    }
}

impl Effort {
    /// The default, but less for networks so large that it would take minutes.
    pub fn fitting(network: &Network) -> Effort {
        let round = network.end_nodes().len() * network.channels();
        match round {
            0..20_000_000 => Effort::default(),
            20_000_000..60_000_000 => Effort { rounds: 2, looks: 100, ..Effort::default() },
            _ => Effort { rounds: 1, looks: 20, ..Effort::default() },
        }
    }
}

/// How strongly a channel's load counts in its cost: the greater, the more the busiest channels alone matter.
const POWER: i32 = 4;

/// Tables under an order of the channels, on one lane. Paths are as short as the order and a
/// destination's tree allow, level by level; among those of one length, the ones over less busy
/// channels.
///
/// O(end nodes · cables · rounds), and what `effort` says for mending.
pub fn balanced(network: &Network, order: &ChannelOrder, effort: Effort) -> Table {
    balanced_lanes(network, std::slice::from_ref(order), &vec![0; network.switches().len()], effort)
}

/// The same for several lanes, each with an order of its own. `lane` says for each switch on which lane
/// packets to it and its end nodes travel.
///
/// # Panics
/// If there is no order, or no order for a lane that is named.
pub fn balanced_lanes(network: &Network, orders: &[ChannelOrder], lane: &[u8], effort: Effort) -> Table {
    let graph = Graph::of(network);
    let places: Vec<Places> = orders.iter().map(|order| Places::of(network, order)).collect();
    let place_to = |root: u32| Some(&places[usize::from(lane[root as usize])]);
    Spread::new(network, &graph, &place_to, effort).table(
        network,
        &graph,
        &place_to,
        orders.len() as u8,
        lane,
    )
}

/// Minimal paths, balanced, under no order at all: they are free of deadlock only by luck. What any
/// order costs is to be seen against these.
pub fn minimal(network: &Network, effort: Effort) -> Table {
    let graph = Graph::of(network);
    let effort = Effort { longer: 0.0, ..effort };
    Spread::new(network, &graph, &|_| None, effort).table(
        network,
        &graph,
        &|_| None,
        1,
        &vec![0; graph.switches],
    )
}

/// About the greatest load of any channel in balanced tables. In large networks, with one tree for all
/// end nodes of a switch: O(switches · cables).
pub(crate) fn rough_load(network: &Network, graph: &Graph, order: &Places) -> f64 {
    if network.end_nodes().len() * graph.channels < 5_000_000 {
        let spread =
            Spread::new(network, graph, &|_| Some(order), Effort { rounds: 1, looks: 0, longer: 0.0 });
        return spread.paths.load.iter().copied().max().map_or(0.0, f64::from);
    }
    let all: u64 = graph.weight.iter().map(|w| u64::from(*w)).sum();
    let mut costs = Costs::new(graph, all * all);
    let mut builder = TreeBuilder::new(graph);
    let (mut load, mut through) = (vec![0.0_f64; graph.channels], Vec::new());
    for root in 0..graph.switches as u32 {
        let tree = builder.build_short(graph, Some(order), root, &costs.by_channel, &mut None);
        tree.sending(graph, &mut through);
        for s in &tree.order[1..] {
            let c = tree.next[*s as usize] as usize;
            load[c] += f64::from(through[*s as usize]) * f64::from(graph.receiving[root as usize]);
            costs.set(c as u32, load[c]);
        }
    }
    load.into_iter().fold(0.0, f64::max)
}

/// The trees of all end nodes, spread over the channels.
struct Spread {
    paths: Paths,
    costs: Costs,
    builder: TreeBuilder,
}

/// For the trees of a switch, the order of the channels; without one, every turn is allowed.
type PlaceTo<'a, 'p> = &'a (dyn Fn(u32) -> Option<&'p Places> + 'a);

impl Spread {
    fn new(network: &Network, graph: &Graph, place_to: PlaceTo, effort: Effort) -> Spread {
        let mut builder = TreeBuilder::new(graph);
        let mut paths = Paths::new(network, graph);
        let mut costs = Costs::new(graph, paths.total_weight());
        let mut through = Vec::new();
        let mut shortest = vec![None; graph.switches];
        for round in 0..effort.rounds.max(1) {
            for e in network.end_node_ids() {
                if round > 0 {
                    paths.take_out(e.0, graph, |c, load| costs.set(c, f64::from(load)));
                }
                let root = network.end_node(e).switch.0;
                let tree = builder.build_short(
                    graph,
                    place_to(root),
                    root,
                    &costs.by_channel,
                    &mut shortest[root as usize],
                );
                tree.sending(graph, &mut through);
                paths.put_in(e.0, tree, graph, &through, |c, load| costs.set(c, f64::from(load)));
            }
        }
        let detours = paths.total_hops().saturating_sub(minimal_hops(network));
        rebalance::mend(&mut paths, graph, place_to, effort.looks, (detours as f64 * effort.longer) as i64);
        Spread { paths, costs, builder }
    }

    fn table(mut self, network: &Network, graph: &Graph, place_to: PlaceTo, lanes: u8, lane: &[u8]) -> Table {
        let mut table = Table::empty(network, lanes);
        for e in network.end_node_ids() {
            let (to, end_node) = (Destination::EndNode(e), network.end_node(e));
            table.set_lane(to, lane[end_node.switch.index()]);
            table.set(end_node.switch, to, Some(end_node.switch_port));
            for s in network.switch_ids().filter(|s| *s != end_node.switch) {
                table.set(s, to, self.paths.next(e.0, s.0).map(|c| network.out_port(Channel(c))));
            }
        }
        // Packets to switches themselves are few: their paths count for nothing, and go where there is room.
        for root in network.switch_ids() {
            let to = Destination::Switch(root);
            table.set_lane(to, lane[root.index()]);
            table.set(root, to, Some(Port(0)));
            let tree = self.builder.build(graph, place_to(root.0), root.0, &self.costs.by_channel);
            for s in &tree.order[1..] {
                table.set(SwitchId(*s), to, Some(network.out_port(Channel(tree.next[*s as usize]))));
            }
        }
        table
    }
}

/// The hops that all pairs of end nodes need at least, in sum.
fn minimal_hops(network: &Network) -> u64 {
    let end_nodes = |s: SwitchId| network.attached(s).len() as u64;
    let from = |s: SwitchId| {
        network
            .distances(s)
            .into_iter()
            .zip(network.switch_ids())
            .map(|(d, to)| u64::from(d.unwrap_or(0)) * end_nodes(to))
            .sum::<u64>()
    };
    network.switch_ids().filter(|s| end_nodes(*s) > 0).map(|s| end_nodes(s) * from(s)).sum()
}

/// What channels cost.
struct Costs {
    by_channel: Vec<f64>,
    /// The load that costs 1.
    unit: f64,
}

/// What an idle channel costs: enough that of two ways over idle channels none is free.
const IDLE: f64 = 1e-3;

impl Costs {
    fn new(graph: &Graph, pairs: u64) -> Costs {
        // What a channel would carry if each pair's path were one hop.
        let unit = (pairs as f64 / graph.channels.max(1) as f64).max(1.0);
        Costs { by_channel: vec![IDLE; graph.channels], unit }
    }

    fn set(&mut self, c: u32, load: f64) {
        self.by_channel[c as usize] = IDLE + (load / self.unit).powi(POWER);
    }
}
