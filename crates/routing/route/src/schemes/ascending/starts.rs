//! The orders from which the search starts.

use super::evaluation::Evaluator;
use super::linear_ordering::LinearOrdering;
use super::{greedy_trees, minimal_demand};
use crate::network::Network;
use crate::order::ChannelOrder;
use crate::schemes::breadth_first::{best_root, breadth_first};
use crate::schemes::depth_first::depth_first_from;
use crate::tables::{ChannelPositions, Graph};
use evenkeel_random::Random;

/// The most passes over all channels to find an order for given weights.
const PASSES: u32 = 30;

/// In networks with more switches times channels, one greedy order must do.
const LARGE: usize = 3_000_000;

/// The breadth-first and the depth-first order, both of them improved towards the demand of minimal paths,
/// and the better of two orders from greedily built trees.
pub(super) fn starts(network: &Network, graph: &Graph, seed: u64) -> Vec<ChannelPositions> {
    let root = best_root(network);
    let mut starts = Vec::new();
    for order in [breadth_first(network, root), depth_first_from(network, root)] {
        let order = ChannelPositions::of(network, &ChannelOrder::up_down(network, &order));
        let mut ordering = LinearOrdering::new(graph, &order);
        let mut random = Random::new(seed);
        minimal_demand::fill_in(graph, &mut ordering.weight);
        for _ in 0..PASSES {
            if ordering.improve(graph, 1.0, &mut random) == 0 {
                break;
            }
        }
        starts.push(order);
        starts.push(ordering.order());
    }
    let mut evaluator = Evaluator::new(graph);
    // In large networks the second greedy order takes as long as some steps of the search, and is no better.
    let variants: &[bool] = if graph.switches * graph.channels > LARGE { &[false] } else { &[false, true] };
    let greedy = variants
        .iter()
        .map(|last| greedy_trees::order(graph, root.0, *last))
        .map(|order| (evaluator.evaluate(graph, &order), order));
    let better = greedy.min_by(|a, b| a.0.partial_cmp(&b.0).expect("sums of numbers"));
    starts.extend(better.map(|(_, order)| order));
    starts
}
