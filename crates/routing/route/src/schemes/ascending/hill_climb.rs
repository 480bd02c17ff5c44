//! The search from one order to better ones.

use super::evaluation::{Evaluation, Evaluator};
use super::linear_ordering::LinearOrdering;
use crate::network::Network;
use crate::tables::{ChannelPositions, Graph, estimate_max_load};
use evenkeel_random::Random;

/// Noise on the weights, as a share of them. It is so large that the search does not return to the same
/// order.
const NOISE: f64 = 0.8;
/// The weight of a turn that would shorten paths, relative to one that paths use: the least and the
/// greatest. It varies from step to step.
const GAIN: (f64, f64) = (0.1, 1.5);
/// The share of the channels that may move in the first step.
const FIRST_SHARE: f64 = 0.2;
/// Factors of that share after a step that was kept and after one that was not. With these, about a third
/// is kept.
const AFTER_KEPT: f64 = 1.6;
const AFTER_NOT_KEPT: f64 = 0.8;
/// How many per cent of load are worth as much as one per cent of hops when orders are compared in the end.
/// On the 53 networks of the book, loads are 0.45 of Nue's with 16 and 0.47 with 50, hops are 0.964 and
/// 0.963, and on no network are there more hops than Nue's.
const HOPS_COUNT: u32 = 16;

/// A hill climb, and the best order that it has found.
pub(super) struct HillClimb<'a> {
    network: &'a Network,
    graph: &'a Graph,
    ordering: LinearOrdering,
    evaluator: Evaluator,
    random: Random,
    /// The share of the channels that may move in a step.
    share: f64,
    order: ChannelPositions,
    evaluation: Evaluation,
    estimate: f64,
    /// By turn: how much the paths of `order` use it, and how much they would gain from it.
    used: Vec<f64>,
    gain: Vec<f64>,
}

impl<'a> HillClimb<'a> {
    /// A climb that starts from an order.
    pub fn new(network: &'a Network, graph: &'a Graph, order: ChannelPositions, seed: u64) -> HillClimb<'a> {
        let ordering = LinearOrdering::new(graph, &order);
        let mut evaluator = Evaluator::new(graph);
        let estimate = evaluator.estimate(graph, &order);
        let evaluation = evaluator.evaluate(graph, &order);
        let (used, gain) = (evaluator.used.clone(), evaluator.gain.clone());
        HillClimb {
            network,
            graph,
            ordering,
            evaluator,
            random: Random::new(seed),
            share: FIRST_SHARE,
            order,
            evaluation,
            estimate,
            used,
            gain,
        }
    }

    /// The best order so far.
    pub fn order(&self) -> &ChannelPositions {
        &self.order
    }

    /// Ordered pairs of switches that have no path under the best order.
    pub fn unreached(&self) -> u32 {
        self.evaluation.unreached
    }

    /// The value of the best order: the smaller, the better.
    pub fn score(&self) -> f64 {
        match self.evaluation.unreached {
            // The score is a logarithm, because hops to such a power would overflow.
            0 => {
                let load = estimate_max_load(self.network, self.graph, &self.order);
                f64::from(HOPS_COUNT) * self.evaluation.hops.ln() + load.max(1.0).ln()
            }
            unreached => 1e6 + f64::from(unreached),
        }
    }

    /// Tries one new order.
    pub fn step(&mut self) {
        let gain = GAIN.0 + (GAIN.1 - GAIN.0) * self.random.unit();
        for ((weight, used), gained) in self.ordering.weight.iter_mut().zip(&self.used).zip(&self.gain) {
            let noise = 1.0 + NOISE * (2.0 * self.random.unit() - 1.0);
            *weight = (used + gain * gained) * noise;
        }
        self.ordering.set_order(&self.order);
        self.ordering.improve(self.graph, self.share, &mut self.random);
        let order = self.ordering.order();
        // Most steps find nothing better, and for most of those the estimate shows it.
        let estimate = self.evaluator.estimate(self.graph, &order);
        let is_kept = estimate < self.estimate && self.keep_if_better(order, estimate);
        let least = 8.0 / self.graph.channels as f64;
        let factor = if is_kept { AFTER_KEPT } else { AFTER_NOT_KEPT };
        self.share = (self.share * factor).clamp(least.min(1.0), 1.0);
    }

    /// Continues from an order if it is better. Returns whether it is.
    fn keep_if_better(&mut self, order: ChannelPositions, estimate: f64) -> bool {
        let evaluation = self.evaluator.evaluate(self.graph, &order);
        let is_better = evaluation < self.evaluation;
        if is_better {
            (self.order, self.evaluation, self.estimate) = (order, evaluation, estimate);
            std::mem::swap(&mut self.used, &mut self.evaluator.used);
            std::mem::swap(&mut self.gain, &mut self.evaluator.gain);
        }
        is_better
    }
}
