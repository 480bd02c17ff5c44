//! Tables whose paths are spread over the channels.
//!
//! Trees are built with costs that follow the load so far, then built again, and then parts of them are
//! moved away from the busiest channel.

mod costs;
mod paths;
mod rebalance;

use super::graph::Graph;
use super::positions::{ChannelPositions, OrderForRoot};
use super::tree::TreeBuilder;
use crate::network::{Channel, Network, Port, SwitchId};
use crate::order::ChannelOrder;
use crate::table::{Destination, Table};
use costs::ChannelCosts;
use paths::Paths;

/// How much work goes into balance. It is counted in steps, not in seconds, so that the same effort gives
/// the same tables on every machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalanceEffort {
    /// How often the tree of every end node is built among the trees of the others.
    pub rounds: u32,
    /// The most switches whose channels are examined to relieve the busiest channel, per channel of the
    /// network.
    pub candidates: u32,
    /// By how much that may lengthen paths, as a share of the hops by which they exceed minimal paths
    /// already. If all paths are minimal, they stay so.
    pub detour: f64,
}

impl Default for BalanceEffort {
    fn default() -> BalanceEffort {
        BalanceEffort { rounds: 3, candidates: 400, detour: 0.1 }
    }
}

impl BalanceEffort {
    /// The default, or less for networks so large that it would take minutes.
    pub fn fitting(network: &Network) -> BalanceEffort {
        let round = network.end_nodes().len() * network.channels();
        match round {
            0..20_000_000 => BalanceEffort::default(),
            20_000_000..60_000_000 => {
                BalanceEffort { rounds: 2, candidates: 100, ..BalanceEffort::default() }
            }
            _ => BalanceEffort { rounds: 1, candidates: 20, ..BalanceEffort::default() },
        }
    }
}

/// Tables under an order of the channels, on one virtual lane.
///
/// Paths are as short as the order and the tree of a destination allow level by level. Among paths of the
/// same length, those over less busy channels are chosen.
///
/// O(end nodes · cables · rounds), and the candidates of `effort`.
pub fn balanced(network: &Network, order: &ChannelOrder, effort: BalanceEffort) -> Table {
    balanced_lanes(network, std::slice::from_ref(order), &vec![0; network.switches().len()], effort)
}

/// Tables for several virtual lanes, each with an order of its own. `lane` gives, by switch, the lane of
/// packets to the switch and its end nodes.
///
/// # Panics
/// If there is no order, or no order for one of the lanes.
pub fn balanced_lanes(
    network: &Network,
    orders: &[ChannelOrder],
    lane: &[u8],
    effort: BalanceEffort,
) -> Table {
    let graph = Graph::of(network);
    let positions: Vec<ChannelPositions> =
        orders.iter().map(|order| ChannelPositions::of(network, order)).collect();
    let order_for = |root: u32| Some(&positions[usize::from(lane[root as usize])]);
    let trees = BalancedTrees::new(network, &graph, &order_for, effort);
    trees.table(network, &graph, &order_for, orders.len() as u8, lane)
}

/// Balanced minimal paths without an order. They are free of deadlock only by chance, and show what an
/// order costs.
pub fn minimal(network: &Network, effort: BalanceEffort) -> Table {
    let graph = Graph::of(network);
    let effort = BalanceEffort { detour: 0.0, ..effort };
    let trees = BalancedTrees::new(network, &graph, &|_| None, effort);
    trees.table(network, &graph, &|_| None, 1, &vec![0; graph.switches])
}

/// The largest network, in end nodes times channels, for which [`estimate_max_load`] balances the tree of
/// every end node.
const SMALL: usize = 5_000_000;

/// An estimate of the greatest load of any channel in balanced tables.
///
/// In large networks one tree serves for all end nodes of a switch: O(switches · cables).
pub(crate) fn estimate_max_load(network: &Network, graph: &Graph, order: &ChannelPositions) -> f64 {
    if network.end_nodes().len() * graph.channels < SMALL {
        let effort = BalanceEffort { rounds: 1, candidates: 0, detour: 0.0 };
        let trees = BalancedTrees::new(network, graph, &|_| Some(order), effort);
        return trees.paths.load.iter().copied().max().map_or(0.0, f64::from);
    }
    let all: u64 = graph.senders.iter().map(|n| u64::from(*n)).sum();
    let mut costs = ChannelCosts::new(graph, all * all);
    let mut builder = TreeBuilder::new(graph);
    let (mut load, mut through) = (vec![0.0_f64; graph.channels], Vec::new());
    for root in 0..graph.switches as u32 {
        let tree = builder.build_shortest(graph, Some(order), root, &costs.by_channel, &mut None);
        tree.count_senders(graph, &mut through);
        for s in &tree.from_root[1..] {
            let c = tree.next[*s as usize] as usize;
            load[c] += f64::from(through[*s as usize]) * f64::from(graph.receivers[root as usize]);
            costs.set(c as u32, load[c]);
        }
    }
    load.into_iter().fold(0.0, f64::max)
}

/// The trees of all end nodes, spread over the channels.
struct BalancedTrees {
    paths: Paths,
    costs: ChannelCosts,
    builder: TreeBuilder,
}

impl BalancedTrees {
    fn new(
        network: &Network,
        graph: &Graph,
        order_for: OrderForRoot,
        effort: BalanceEffort,
    ) -> BalancedTrees {
        let mut builder = TreeBuilder::new(graph);
        let mut paths = Paths::new(network, graph);
        let mut costs = ChannelCosts::new(graph, paths.pairs());
        let mut through = Vec::new();
        let mut shortest = vec![None; graph.switches];
        for round in 0..effort.rounds.max(1) {
            for e in network.end_node_ids() {
                if round > 0 {
                    paths.remove_tree(e.0, graph, |c, load| costs.set(c, f64::from(load)));
                }
                let root = network.end_node(e).switch.0;
                let shortest = &mut shortest[root as usize];
                let tree = builder.build_shortest(graph, order_for(root), root, &costs.by_channel, shortest);
                tree.count_senders(graph, &mut through);
                paths.insert_tree(e.0, tree, graph, &through, |c, load| costs.set(c, f64::from(load)));
            }
        }
        let detours = paths.total_hops().saturating_sub(minimal_hops(network));
        let hop_budget = (detours as f64 * effort.detour) as i64;
        rebalance::rebalance(&mut paths, graph, order_for, effort.candidates, hop_budget);
        BalancedTrees { paths, costs, builder }
    }

    fn table(
        mut self,
        network: &Network,
        graph: &Graph,
        order_for: OrderForRoot,
        lanes: u8,
        lane: &[u8],
    ) -> Table {
        let mut table = Table::empty(network, lanes);
        for e in network.end_node_ids() {
            let (to, end_node) = (Destination::EndNode(e), network.end_node(e));
            table.set_lane(to, lane[end_node.switch.index()]);
            table.set(end_node.switch, to, Some(end_node.switch_port));
            for s in network.switch_ids().filter(|s| *s != end_node.switch) {
                table.set(s, to, self.paths.next(e.0, s.0).map(|c| network.out_port(Channel(c))));
            }
        }
        // Few packets go to switches themselves. Their paths do not count as load, and take the cheapest
        // channels.
        for root in network.switch_ids() {
            let to = Destination::Switch(root);
            table.set_lane(to, lane[root.index()]);
            table.set(root, to, Some(Port(0)));
            let tree = self.builder.build(graph, order_for(root.0), root.0, &self.costs.by_channel);
            for s in &tree.from_root[1..] {
                table.set(SwitchId(*s), to, Some(network.out_port(Channel(tree.next[*s as usize]))));
            }
        }
        table
    }
}

/// The hops of minimal paths, as a sum over all ordered pairs of end nodes.
fn minimal_hops(network: &Network) -> u64 {
    let end_nodes = |s: SwitchId| network.end_nodes_at(s).len() as u64;
    let from = |s: SwitchId| {
        let distances = network.distances(s).into_iter().zip(network.switch_ids());
        distances.map(|(d, to)| u64::from(d.unwrap_or(0)) * end_nodes(to)).sum::<u64>()
    };
    network.switch_ids().filter(|s| end_nodes(*s) > 0).map(|s| end_nodes(s) * from(s)).sum()
}
