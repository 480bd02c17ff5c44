//! Evaluates an order by the trees of shortest paths under it: their hops, the turns that they use, and the
//! turns that would shorten them.

use super::batched_trees::{BATCH, BatchedTrees};
use crate::tables::{ChannelPositions, Graph, NONE, TreeBuilder};

/// The value of an order.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Evaluation {
    /// Ordered pairs of switches without an ascending path. Comparisons look at it first.
    pub unreached: u32,
    /// Hops from end nodes to end nodes, as a sum over the pairs with a path.
    pub hops: f64,
}

/// Evaluates orders one after the other in the same memory.
pub(super) struct Evaluator {
    builder: TreeBuilder,
    batched: BatchedTrees,
    /// By turn: how many pairs of end nodes use it.
    pub used: Vec<f64>,
    /// By turn: how many hops pairs of end nodes would save if the order allowed this turn and nothing else
    /// changed.
    pub gain: Vec<f64>,
    /// By switch: end nodes that send through it.
    through: Vec<f64>,
    /// By channel: zeros. Without costs, the later one of two paths of the same length is chosen.
    no_costs: Vec<f64>,
}

/// What a switch counts in addition to its end nodes, because paths to and from switches without end nodes
/// matter too.
pub(super) const EMPTY_SWITCH: f64 = 1e-3;
/// The hops that count as saved if a turn gives a path to a switch that has none.
const UNREACHED: f64 = 1000.0;

impl Evaluator {
    /// An evaluator for orders of a graph.
    pub fn new(graph: &Graph) -> Evaluator {
        let turns = graph.turns();
        Evaluator {
            builder: TreeBuilder::new(graph),
            batched: BatchedTrees::new(graph),
            used: vec![0.0; turns],
            gain: vec![0.0; turns],
            through: vec![0.0; graph.switches],
            no_costs: vec![0.0; graph.channels],
        }
    }

    /// An estimate of the hops. It is exact except for switches that have no place among shortest paths.
    ///
    /// O(switches · cables · hops), but for many trees at a time.
    pub fn estimate(&mut self, graph: &Graph, order: &ChannelPositions) -> f64 {
        self.batched.set_order(graph, &order.position);
        let mut sum = 0.0;
        for first in (0..graph.switches as u32).step_by(BATCH) {
            let hops = self.batched.hops(graph, first, |s| senders(graph, s));
            sum += (first..graph.switches as u32)
                .zip(hops)
                .map(|(root, hops)| receivers(graph, root) * hops)
                .sum::<f64>();
        }
        sum
    }

    /// Evaluates an order, and fills in `used` and `gain`. O(switches · cables).
    pub fn evaluate(&mut self, graph: &Graph, order: &ChannelPositions) -> Evaluation {
        self.used.fill(0.0);
        self.gain.fill(0.0);
        let mut evaluation = Evaluation { unreached: 0, hops: 0.0 };
        for root in 0..graph.switches as u32 {
            self.tree(graph, order, root, &mut evaluation);
            self.add_tree(graph, root);
        }
        evaluation
    }

    /// Hops to a switch, as a sum over switches with their end nodes.
    pub fn hops_to(&mut self, graph: &Graph, order: &ChannelPositions, root: u32) -> f64 {
        let mut evaluation = Evaluation { unreached: 0, hops: 0.0 };
        self.tree(graph, order, root, &mut evaluation);
        evaluation.hops / receivers(graph, root)
    }

    fn tree(&mut self, graph: &Graph, order: &ChannelPositions, root: u32, evaluation: &mut Evaluation) {
        let tree = self.builder.build(graph, Some(order), root, &self.no_costs);
        evaluation.unreached += (graph.switches - tree.from_root.len()) as u32;
        let hops = tree.from_root[1..]
            .iter()
            .map(|s| senders(graph, *s) * f64::from(tree.distance[*s as usize]))
            .sum::<f64>();
        evaluation.hops += receivers(graph, root) * hops;
    }

    /// Adds what the tree to a root uses and lacks.
    fn add_tree(&mut self, graph: &Graph, root: u32) {
        let (tree, receivers) = (&self.builder.tree, receivers(graph, root));
        (0..graph.switches).for_each(|s| self.through[s] = senders(graph, s as u32));
        for s in tree.from_root[1..].iter().rev() {
            let c = tree.next[*s as usize];
            let to = graph.to[c as usize];
            let (sending, following) = (self.through[*s as usize], tree.next[to as usize]);
            self.through[to as usize] += sending;
            if following != NONE {
                self.used[graph.turn(c, following)] += receivers * sending;
            }
        }
        for s in 0..graph.switches {
            let distance = tree.distance[s];
            for c in graph.leaving(s as u32) {
                let to = graph.to[*c as usize] as usize;
                // NONE is greater than all distances, so that a switch without a path gains from any
                // neighbour with one.
                if tree.next[to] != NONE && tree.distance[to] + 1 < distance {
                    // Paths for switches without end nodes are needed as much as for others.
                    self.gain[graph.turn(*c, tree.next[to])] += if distance == NONE {
                        UNREACHED * (1.0 + receivers) * (1.0 + self.through[s])
                    } else {
                        receivers * self.through[s] * f64::from(distance - tree.distance[to] - 1)
                    };
                }
            }
        }
    }
}

/// What a switch counts as a sender.
fn senders(graph: &Graph, s: u32) -> f64 {
    f64::from(graph.senders[s as usize]) + EMPTY_SWITCH
}

/// What a switch counts as a destination.
fn receivers(graph: &Graph, root: u32) -> f64 {
    f64::from(graph.receivers[root as usize]) + EMPTY_SWITCH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Irregular, irregular};
    use evenkeel_random::Random;

    /// The estimate equals the hops of the trees, unless shortest paths leave switches out. Then it may be
    /// too large or too small, but not by much.
    #[test]
    fn batched_trees_have_the_same_hops_as_single_trees() {
        let (mut exact, mut left_out) = (0, 0);
        for seed in 0..40 {
            let network = irregular(
                Irregular {
                    switches: 37,
                    degree: 3 + seed as usize % 4,
                    end_nodes: 1 + seed as usize % 3,
                    parallel: false,
                },
                seed,
            )
            .unwrap();
            let graph = Graph::of(&network);
            let root = crate::SwitchId(seed as u32 % 37);
            let up_down =
                crate::ChannelOrder::up_down(&network, &crate::schemes::breadth_first(&network, root));
            let mut evaluator = Evaluator::new(&graph);
            for order in [ChannelPositions::of(&network, &up_down), random_order(&graph, seed)] {
                let evaluation = evaluator.evaluate(&graph, &order);
                let estimate = evaluator.estimate(&graph, &order);
                if (estimate - evaluation.hops).abs() < 1e-6 * evaluation.hops {
                    exact += 1;
                } else {
                    left_out += 1;
                    assert!(
                        evaluation.unreached > 0 || (estimate / evaluation.hops - 1.0).abs() < 0.2,
                        "{estimate} {evaluation:?}"
                    );
                }
            }
        }
        assert!(
            exact > 5 && left_out > 5,
            "too few of one kind: {exact} exact, {left_out} with switches left out"
        );
    }

    fn random_order(graph: &Graph, seed: u64) -> ChannelPositions {
        let mut position: Vec<u32> = (0..graph.channels as u32).collect();
        Random::new(seed).shuffle(&mut position);
        ChannelPositions::new(position)
    }

    #[test]
    fn no_turn_would_shorten_paths_under_an_order_that_allows_all_minimal_paths() {
        let network = irregular(Irregular { switches: 12, degree: 2, end_nodes: 1, parallel: false }, 3)
            .unwrap()
            .without(&[crate::Channel(0)], &[]);
        let graph = Graph::of(&network);
        let order = ChannelPositions::of(
            &network,
            &crate::ChannelOrder::up_down(
                &network,
                &crate::schemes::breadth_first(&network, crate::SwitchId(0)),
            ),
        );
        let mut evaluator = Evaluator::new(&graph);
        let evaluation = evaluator.evaluate(&graph, &order);
        if network.is_connected() {
            assert_eq!(evaluation.unreached, 0);
            assert!(evaluator.gain.iter().all(|gain| *gain == 0.0));
            assert!(evaluator.used.iter().any(|used| *used > 0.0));
        }
    }
}
