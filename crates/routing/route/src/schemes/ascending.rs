//! Our own scheme: a search among the orders of the *channels* for short paths and low load on one virtual
//! lane.
//!
//! The literature searches among orders of the switches. These allow a turn in both directions or in
//! neither, and all traffic between branches crosses one root. An order of the channels has neither
//! restriction.
//!
//! An order is evaluated by the trees of shortest ascending paths under it ([`evaluation`]): by their hops,
//! by the turns that they use, and by the turns that would shorten them if the order allowed these. With
//! such weights on turns, finding a better order is a linear ordering problem: arrange the channels so that
//! the turns that ascend have the greatest weight. The best position of one channel depends on its few
//! neighbours alone ([`linear_ordering`]), so that a new order costs less than its evaluation. The search
//! is a hill climb ([`hill_climb`]): it perturbs the weights of the best order so far, and keeps a new
//! order if that is better.

mod batched_trees;
mod evaluation;
mod greedy_trees;
mod hill_climb;
mod linear_ordering;
mod minimal_demand;
mod starts;

use crate::network::Network;
use crate::order::ChannelOrder;
use crate::tables::{ChannelPositions, Graph};
use evaluation::Evaluator;
use evenkeel_random::Random;
use hill_climb::HillClimb;

/// How much to search. It is counted in steps, so that the same search gives the same order on every machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AscendingSearch {
    /// Orders to evaluate, as a multiple of the default number for networks of that size.
    pub effort: f64,
    /// Seed of the random choices.
    pub seed: u64,
}

impl Default for AscendingSearch {
    fn default() -> AscendingSearch {
        AscendingSearch { effort: 1.0, seed: 1 }
    }
}

/// An order of the channels with short paths and low loads. `progress` is called with the share of the
/// search that is done, 0 to 1.
///
/// # Panics
/// If the network is not connected.
pub fn ascending(network: &Network, search: AscendingSearch, progress: &mut dyn FnMut(f64)) -> ChannelOrder {
    assert!(network.is_connected(), "no order gives a path between switches that are not connected");
    best_order(network, &Graph::of(network), search, progress).channel_order()
}

/// Orders for several virtual lanes and, by switch, the lane of packets to the switch and its end nodes.
///
/// Destinations are distributed over the lanes at random. An order is searched for the destinations of each
/// lane. Then each destination gets the lane on which paths to it are shortest.
///
/// # Panics
/// If the network is not connected, or there is no lane.
pub fn ascending_lanes(
    network: &Network,
    search: AscendingSearch,
    lanes: u8,
    progress: &mut dyn FnMut(f64),
) -> (Vec<ChannelOrder>, Vec<u8>) {
    assert!(lanes > 0, "there is no lane");
    assert!(network.is_connected(), "no order gives a path between switches that are not connected");
    let mut graph = Graph::of(network);
    let mut lane_of: Vec<u8> = (0..graph.switches).map(|i| (i % usize::from(lanes)) as u8).collect();
    Random::new(search.seed).shuffle(&mut lane_of);
    let mut orders = Vec::new();
    for lane in 0..lanes {
        let end_nodes = graph.senders.iter().zip(&lane_of);
        graph.receivers = end_nodes.map(|(n, of)| if *of == lane { *n } else { 0 }).collect();
        let mut progress = |share: f64| progress((f64::from(lane) + share) / f64::from(lanes));
        orders.push(best_order(network, &graph, search, &mut progress));
    }
    let mut evaluator = Evaluator::new(&graph);
    let shortest_lane = |root: u32| {
        let hops = orders.iter().map(|order| evaluator.hops_to(&graph, order, root));
        hops.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(lane, _)| lane as u8)
    };
    let lane_of = (0..graph.switches as u32).map(shortest_lane).collect();
    (orders.iter().map(ChannelPositions::channel_order).collect(), lane_of)
}

/// The most steps to find an order under which all switches can reach each other.
const CONNECTING_STEPS: u32 = 400;

/// An order near another one, under which all switches can reach each other; `None` if the search does not
/// find one soon. Other seeds find other orders.
pub(crate) fn connecting_order(network: &Network, order: &ChannelOrder, seed: u64) -> Option<ChannelOrder> {
    let graph = Graph::of(network);
    let mut climb = HillClimb::new(network, &graph, ChannelPositions::of(network, order), seed);
    for _ in 0..CONNECTING_STEPS {
        if climb.unreached() == 0 {
            break;
        }
        climb.step();
    }
    (climb.unreached() == 0).then(|| climb.order().channel_order())
}

/// The best order that hill climbs from several starts find.
fn best_order(
    network: &Network,
    graph: &Graph,
    search: AscendingSearch,
    progress: &mut dyn FnMut(f64),
) -> ChannelPositions {
    let steps = steps(graph, search.effort);
    let starts = starts::starts(network, graph, search.seed);
    let mut climbs: Vec<HillClimb> = starts
        .iter()
        .zip(0..)
        .map(|(start, i)| HillClimb::new(network, graph, start.clone(), search.seed.wrapping_add(i)))
        .collect();
    // One of the starts may be the best order. In a fat tree no path can become shorter, and loads only
    // higher.
    let mut best = climbs
        .iter()
        .map(|climb| (climb.score(), climb.order().clone()))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there are several starts");
    // Every start gets a quarter of the steps, the better two of them get the rest.
    let quarter = steps.div_ceil(4);
    let all = f64::from(quarter) * climbs.len() as f64 + 2.0 * f64::from(steps - quarter);
    let mut done = 0.0;
    for (from, to) in [(0, quarter), (quarter, steps)] {
        for climb in &mut climbs {
            for _ in from..to {
                climb.step();
                done += 1.0;
                progress(done / all);
            }
        }
        let mut scored: Vec<(f64, HillClimb)> =
            climbs.into_iter().map(|climb| (climb.score(), climb)).collect();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        if scored[0].0 < best.0 {
            best = (scored[0].0, scored[0].1.order().clone());
        }
        climbs = scored.into_iter().take(2).map(|(_, climb)| climb).collect();
    }
    best.1
}

/// Steps from each start. Larger networks get fewer, because the work of a step is switches times channels.
fn steps(graph: &Graph, effort: f64) -> u32 {
    let work = (graph.switches as f64 * graph.channels as f64).max(1.0);
    (effort * 40_000.0 / work.sqrt()).clamp(1.0, 400.0) as u32
}
