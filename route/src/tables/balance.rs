//! Tables whose paths are spread over the channels: built with an eye on the load so far, rebuilt, then mended where they are worst.

mod mend;
mod paths;

use super::tree::Choice;
use super::{Graph, TreeBuilder};
use crate::network::Network;
use crate::order::ChannelOrder;
use crate::table::{Destination, Table};
use paths::Paths;

/// How much work goes into balance. It is counted in steps, not seconds, so that the same effort gives the same tables everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// How often every end node's tree is built anew among the others'.
    pub rounds: u32,
    /// How many trees are looked at, at most, to take load off the busiest channel; for each channel of the network.
    pub looks: u32,
    /// How much the mean number of hops may grow by that, as a share of it.
    pub longer: f64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { rounds: 3, looks: 400, longer: 0.0 }
    }
}

/// How strongly a channel's load counts in its cost: the greater, the more the busiest channels alone matter.
const POWER: i32 = 4;

/// Tables under an order of the channels, on one lane. Paths are as short as the order and a destination's tree allow, level by level; among those of
/// one length, the ones over less busy channels.
///
/// O(end nodes · cables · rounds), and what `effort` says for mending.
pub fn balanced(network: &Network, order: &ChannelOrder, effort: Effort) -> Table {
    balanced_lanes(network, std::slice::from_ref(order), &vec![0; network.switches().len()], effort)
}

/// The same for several lanes, each with an order of its own. `lane` says for each switch on which lane packets to it and its end nodes travel.
///
/// # Panics
/// If there is no order, or no order for a lane that is named.
pub fn balanced_lanes(network: &Network, orders: &[ChannelOrder], lane: &[u8], effort: Effort) -> Table {
    let graph = Graph::of(network);
    let places: Vec<Vec<u32>> = orders.iter().map(|order| network.channel_ids().map(|c| order.place(c)).collect()).collect();
    let place_to = |root: u32| places[usize::from(lane[root as usize])].as_slice();
    let mut builder = TreeBuilder::new(&graph);
    let mut paths = Paths::new(network, &graph);
    let mut costs = Costs::new(&graph, paths.total_weight());
    let mut through = Vec::new();
    for round in 0..effort.rounds.max(1) {
        for e in network.end_node_ids() {
            if round > 0 {
                paths.take_out(e.0, &graph, |c, load| costs.set(c, load));
            }
            let root = network.end_node(e).switch.0;
            let tree = builder.build(&graph, place_to(root), root, &Choice::Cheapest(&costs.0));
            tree.sending(&graph, &mut through);
            paths.put_in(e.0, tree, &graph, &through, |c, load| costs.set(c, load));
        }
    }
    mend::mend(&mut paths, &graph, &|root| place_to(root), effort);
    let mut table = Table::empty(network, orders.len() as u8);
    for e in network.end_node_ids() {
        let to = Destination::EndNode(e);
        let home = network.end_node(e).switch;
        table.set_lane(to, lane[home.index()]);
        for s in network.switch_ids() {
            let port = if s == home { Some(network.end_node(e).switch_port) } else { paths.next(e.0, s.0).map(|c| network.out_port(crate::Channel(c))) };
            table.set(s, to, port);
        }
    }
    for root in network.switch_ids() {
        let to = Destination::Switch(root);
        table.set_lane(to, lane[root.index()]);
        let tree = builder.build(&graph, place_to(root.0), root.0, &Choice::Cheapest(&costs.0));
        for s in network.switch_ids() {
            let next = tree.next[s.index()];
            let port = if s == root { Some(crate::Port(0)) } else { (next != super::tree::NONE).then(|| network.out_port(crate::Channel(next))) };
            table.set(s, to, port);
        }
    }
    table
}

/// What channels cost, by channel.
struct Costs(Vec<f64>, f64);

impl Costs {
    fn new(graph: &Graph, total: u64) -> Costs {
        // Loads are measured in what a channel would carry if each pair's path were one hop.
        let unit = (total as f64 / graph.channels.max(1) as f64).max(1.0);
        Costs(vec![1e-3; graph.channels], unit)
    }

    fn set(&mut self, c: u32, load: u32) {
        self.0[c as usize] = 1e-3 + (f64::from(load) / self.1).powi(POWER);
    }
}
