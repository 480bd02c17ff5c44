//! The linear ordering problem: arrange the channels so that the turns that ascend have the greatest weight.

use crate::tables::{ChannelPositions, Graph};
use evenkeel_random::Random;

/// An arrangement of the channels, and the weights of turns.
pub(super) struct LinearOrdering {
    /// By turn (see [`Graph::turn`]): what counts if the turn ascends.
    pub weight: Vec<f64>,
    /// By channel. Only the order of these numbers matters.
    position: Vec<f64>,
    /// The channels in the order in which they were moved last.
    channels: Vec<u32>,
    /// Memory for [`LinearOrdering::move_to_best`]: the positions of a channel's neighbours, each with the
    /// weight that is gained by a position above it.
    neighbours: Vec<(f64, f64)>,
}

impl LinearOrdering {
    /// An order of the channels, with turns of weight 0.
    pub fn new(graph: &Graph, order: &ChannelPositions) -> LinearOrdering {
        let position = order.position.iter().map(|p| f64::from(*p)).collect();
        LinearOrdering {
            weight: vec![0.0; graph.turns()],
            position,
            channels: (0..graph.channels as u32).collect(),
            neighbours: Vec::new(),
        }
    }

    /// Arranges the channels as in an order.
    pub fn set_order(&mut self, order: &ChannelPositions) {
        self.position.iter_mut().zip(&order.position).for_each(|(position, p)| *position = f64::from(*p));
    }

    /// The arrangement as an order.
    pub fn order(&self) -> ChannelPositions {
        let mut order: Vec<u32> = (0..self.position.len() as u32).collect();
        order.sort_unstable_by(|a, b| {
            self.position[*a as usize].total_cmp(&self.position[*b as usize]).then(a.cmp(b))
        });
        ChannelPositions::from_lowest(&order)
    }

    /// Moves a random share of the channels, one after the other, to their best positions. Returns how many
    /// moved.
    pub fn improve(&mut self, graph: &Graph, share: f64, random: &mut Random) -> u32 {
        let mut channels = std::mem::take(&mut self.channels);
        random.shuffle(&mut channels);
        let count = ((channels.len() as f64 * share).ceil() as usize).min(channels.len());
        let moved = channels[..count].iter().filter(|c| self.move_to_best(graph, **c)).count();
        self.channels = channels;
        moved as u32
    }

    /// Moves a channel to the position where those of its turns that ascend have the greatest weight.
    /// Returns false if it has such a position already.
    fn move_to_best(&mut self, graph: &Graph, c: u32) -> bool {
        let here = self.position[c as usize];
        // The weight of the turns that ascend now, and of those that would below all neighbours.
        let (mut now, mut lowest) = (0.0, 0.0);
        self.neighbours.clear();
        for before in graph.entering(graph.from[c as usize]) {
            let weight = self.weight[graph.turn(*before, c)];
            if weight > 0.0 && before ^ 1 != c {
                let at = self.position[*before as usize];
                self.neighbours.push((at, weight));
                now += if at < here { weight } else { 0.0 };
            }
        }
        for after in graph.leaving(graph.to[c as usize]) {
            let weight = self.weight[graph.turn(c, *after)];
            if weight > 0.0 && after ^ 1 != c {
                let at = self.position[*after as usize];
                self.neighbours.push((at, -weight));
                lowest += weight;
                now += if at > here { weight } else { 0.0 };
            }
        }
        if self.neighbours.is_empty() {
            return false;
        }
        self.neighbours.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut weight = lowest;
        let (mut best, mut best_position) = (lowest, self.neighbours[0].0 - 1.0);
        for (i, (position, gained)) in self.neighbours.iter().enumerate() {
            weight += gained;
            if weight > best {
                best = weight;
                let above = self.neighbours.get(i + 1);
                best_position = above.map_or(position + 1.0, |above| (position + above.0) / 2.0);
            }
        }
        // Sums of the same numbers in another order differ in the last digits.
        if best <= now * (1.0 + 1e-9) {
            return false;
        }
        self.position[c as usize] = best_position;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Irregular, irregular};

    fn ascending_weight(graph: &Graph, ordering: &LinearOrdering) -> f64 {
        let position = ordering.order().position;
        let turns = (0..graph.channels as u32)
            .flat_map(|c| graph.leaving(graph.to[c as usize]).iter().map(move |next| (c, *next)));
        turns
            .filter(|(c, next)| *next != c ^ 1 && position[*c as usize] < position[*next as usize])
            .map(|(c, next)| ordering.weight[graph.turn(c, next)])
            .sum()
    }

    #[test]
    fn no_pass_lowers_the_weight_of_ascending_turns() {
        for seed in 0..5 {
            let network =
                irregular(Irregular { switches: 20, degree: 4, end_nodes: 1, parallel: seed % 2 == 0 }, seed)
                    .unwrap();
            let graph = Graph::of(&network);
            let mut random = Random::new(seed);
            let mut ordering =
                LinearOrdering::new(&graph, &ChannelPositions::new((0..graph.channels as u32).collect()));
            ordering.weight.iter_mut().for_each(|weight| *weight = random.unit());
            let first = ascending_weight(&graph, &ordering);
            let mut last = first;
            for _ in 0..30 {
                ordering.improve(&graph, 1.0, &mut random);
                let now = ascending_weight(&graph, &ordering);
                assert!(now > last - 1e-9, "seed {seed}: {now} after {last}");
                last = now;
            }
            assert!(last > 1.2 * first, "{last} from {first}");
        }
    }
}
