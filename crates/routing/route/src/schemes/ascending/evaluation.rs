//! What an order is worth: the trees under it, and what they lack.

use super::batched_trees::{ABREAST, Abreast};
use crate::tables::{Graph, NONE, Places, TreeBuilder};

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Measured {
    /// Ordered pairs of switches without an ascending path. It comes first in comparisons.
    pub unreached: u32,
    /// Hops from end nodes to end nodes, in sum over those that are reached.
    pub hops: f64,
}

pub(super) struct Measure {
    builder: TreeBuilder,
    abreast: Abreast,
    /// By turn: how many pairs of end nodes use it.
    pub used: Vec<f64>,
    /// By turn: how many hops pairs of end nodes would save if it were allowed, all else being equal.
    pub gain: Vec<f64>,
    through: Vec<f64>,
    /// Of two paths of one length the later one: that is what no costs at all mean.
    no_costs: Vec<f64>,
}

/// What a switch counts beside its end nodes: those without any still have to be reached.
const SWITCH: f64 = 1e-3;
/// A switch that does not reach a destination at all would save this many hops.
const UNREACHED: f64 = 1000.0;

impl Measure {
    pub fn new(graph: &Graph) -> Measure {
        let turns = graph.turns();
        Measure {
            builder: TreeBuilder::new(graph),
            abreast: Abreast::new(graph),
            used: vec![0.0; turns],
            gain: vec![0.0; turns],
            through: vec![0.0; graph.switches],
            no_costs: vec![0.0; graph.channels],
        }
    }

    /// About how many hops there are: exactly, but for switches that shortest paths leave over. O(switches
    /// · cables · hops), many trees at a time.
    pub fn estimate(&mut self, graph: &Graph, order: &Places) -> f64 {
        self.abreast.set_order(graph, &order.place);
        let mut sum = 0.0;
        for first in (0..graph.switches as u32).step_by(ABREAST) {
            let hops = self.abreast.hops(graph, first, |s| counted(graph, s));
            sum += (first..graph.switches as u32)
                .zip(hops)
                .map(|(root, hops)| receivers(graph, root) * hops)
                .sum::<f64>();
        }
        sum
    }

    /// Measures, and fills `used` and `gain`. O(switches · cables).
    pub fn flows(&mut self, graph: &Graph, order: &Places) -> Measured {
        self.used.fill(0.0);
        self.gain.fill(0.0);
        let mut measured = Measured { unreached: 0, hops: 0.0 };
        for root in 0..graph.switches as u32 {
            self.tree(graph, order, root, &mut measured);
            self.flows_of_tree(graph, root);
        }
        measured
    }

    /// Hops of all switches to one, each counted with its end nodes.
    pub fn hops_to(&mut self, graph: &Graph, order: &Places, root: u32) -> f64 {
        let mut measured = Measured { unreached: 0, hops: 0.0 };
        self.tree(graph, order, root, &mut measured);
        measured.hops / receivers(graph, root)
    }

    fn tree(&mut self, graph: &Graph, order: &Places, root: u32, measured: &mut Measured) {
        let tree = self.builder.build(graph, Some(order), root, &self.no_costs);
        measured.unreached += (graph.switches - tree.order.len()) as u32;
        let hops = tree.order[1..]
            .iter()
            .map(|s| counted(graph, *s) * f64::from(tree.distance[*s as usize]))
            .sum::<f64>();
        measured.hops += receivers(graph, root) * hops;
    }

    fn flows_of_tree(&mut self, graph: &Graph, root: u32) {
        let (tree, receivers) = (&self.builder.tree, receivers(graph, root));
        (0..graph.switches).for_each(|s| self.through[s] = counted(graph, s as u32));
        for s in tree.order[1..].iter().rev() {
            let c = tree.next[*s as usize];
            let to = graph.to[c as usize];
            let (sending, on) = (self.through[*s as usize], tree.next[to as usize]);
            self.through[to as usize] += sending;
            if on != NONE {
                self.used[graph.turn(c, on)] += receivers * sending;
            }
        }
        for s in 0..graph.switches {
            let distance = tree.distance[s];
            for c in graph.leaving(s as u32) {
                let to = graph.to[*c as usize] as usize;
                // NONE is above all distances: what is not reached gains from any neighbour that is.
                if tree.next[to] != NONE && tree.distance[to] + 1 < distance {
                    // A switch without end nodes has to be reached as much as one with some.
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

fn counted(graph: &Graph, s: u32) -> f64 {
    f64::from(graph.weight[s as usize]) + SWITCH
}

fn receivers(graph: &Graph, root: u32) -> f64 {
    f64::from(graph.receiving[root as usize]) + SWITCH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Irregular, irregular};
    use evenkeel_random::Random;

    /// The estimate is the trees' lengths, but for what shortest paths leave over; there it is above the
    /// truth or below it, but not far.
    #[test]
    fn trees_abreast_are_as_long_as_one_by_one() {
        let (mut exact, mut left_over) = (0, 0);
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
            let mut measure = Measure::new(&graph);
            for order in [Places::of(&network, &up_down), random_order(&graph, seed)] {
                let measured = measure.flows(&graph, &order);
                let estimate = measure.estimate(&graph, &order);
                if (estimate - measured.hops).abs() < 1e-6 * measured.hops {
                    exact += 1;
                } else {
                    left_over += 1;
                    assert!(
                        measured.unreached > 0 || (estimate / measured.hops - 1.0).abs() < 0.2,
                        "{estimate} {measured:?}"
                    );
                }
            }
        }
        assert!(
            exact > 5 && left_over > 5,
            "{exact} exact, {left_over} with switches left over: too few of some kind"
        );
    }

    fn random_order(graph: &Graph, seed: u64) -> Places {
        let mut place: Vec<u32> = (0..graph.channels as u32).collect();
        Random::new(seed).shuffle(&mut place);
        Places::new(place)
    }

    /// What a turn gains by being allowed is what the trees lack: none under an order that allows all
    /// minimal paths.
    #[test]
    fn a_tree_network_lacks_nothing() {
        let network = irregular(Irregular { switches: 12, degree: 2, end_nodes: 1, parallel: false }, 3)
            .unwrap()
            .without(&[crate::Channel(0)], &[]);
        let graph = Graph::of(&network);
        let order = Places::of(
            &network,
            &crate::ChannelOrder::up_down(
                &network,
                &crate::schemes::breadth_first(&network, crate::SwitchId(0)),
            ),
        );
        let mut measure = Measure::new(&graph);
        let measured = measure.flows(&graph, &order);
        if network.connected() {
            assert_eq!(measured.unreached, 0);
            assert!(measure.gain.iter().all(|gain| *gain == 0.0));
            assert!(measure.used.iter().any(|used| *used > 0.0));
        }
    }
}
