//! The channels in line: where to put each so that heavy turns ascend.

use crate::tables::{Graph, Places};
use evenkeel_random::Random;

pub(super) struct Line {
    /// By turn (see [`Graph::turn`]): what it is worth that the turn ascends.
    pub weight: Vec<f64>,
    /// By channel. Only which is greater counts.
    position: Vec<f64>,
    channels: Vec<u32>,
    /// Memory: positions of a channel's neighbours, with what is gained by passing above each.
    steps: Vec<(f64, f64)>,
}

impl Line {
    pub fn new(graph: &Graph, order: &Places) -> Line {
        let position = order.place.iter().map(|p| f64::from(*p)).collect();
        Line {
            weight: vec![0.0; graph.turns()],
            position,
            channels: (0..graph.channels as u32).collect(),
            steps: Vec::new(),
        }
    }

    pub fn set(&mut self, order: &Places) {
        self.position.iter_mut().zip(&order.place).for_each(|(position, p)| *position = f64::from(*p));
    }

    /// The order in which the channels stand.
    pub fn places(&self) -> Places {
        let mut order: Vec<u32> = (0..self.position.len() as u32).collect();
        order.sort_unstable_by(|a, b| {
            self.position[*a as usize].total_cmp(&self.position[*b as usize]).then(a.cmp(b))
        });
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, c)| place[*c as usize] = i as u32);
        Places::new(place)
    }

    /// Puts a random share of the channels, one after the other, where their turns ascend best. Returns how
    /// many moved.
    pub fn pass(&mut self, graph: &Graph, share: f64, random: &mut Random) -> u32 {
        let mut channels = std::mem::take(&mut self.channels);
        random.shuffle(&mut channels);
        let count = ((channels.len() as f64 * share).ceil() as usize).min(channels.len());
        let moved = channels[..count].iter().filter(|c| self.place_best(graph, **c)).count();
        self.channels = channels;
        moved as u32
    }

    /// Moves one channel to the place where the turns into it and out of it that ascend weigh most. False
    /// if it has that already.
    fn place_best(&mut self, graph: &Graph, c: u32) -> bool {
        let here = self.position[c as usize];
        // `now`: what ascends where the channel stands. `lowest`: what would, below all its neighbours.
        let (mut now, mut lowest) = (0.0, 0.0);
        self.steps.clear();
        for before in graph.entering(graph.from[c as usize]) {
            let weight = self.weight[graph.turn(*before, c)];
            if weight > 0.0 && before ^ 1 != c {
                let at = self.position[*before as usize];
                self.steps.push((at, weight));
                now += if at < here { weight } else { 0.0 };
            }
        }
        for after in graph.leaving(graph.to[c as usize]) {
            let weight = self.weight[graph.turn(c, *after)];
            if weight > 0.0 && after ^ 1 != c {
                let at = self.position[*after as usize];
                self.steps.push((at, -weight));
                lowest += weight;
                now += if at > here { weight } else { 0.0 };
            }
        }
        if self.steps.is_empty() {
            return false;
        }
        self.steps.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut worth = lowest;
        let (mut best, mut place) = (lowest, self.steps[0].0 - 1.0);
        for i in 0..self.steps.len() {
            worth += self.steps[i].1;
            if worth > best {
                best = worth;
                place = self
                    .steps
                    .get(i + 1)
                    .map_or(self.steps[i].0 + 1.0, |above| (self.steps[i].0 + above.0) / 2.0);
            }
        }
        // Sums of the same numbers in another order differ in the last digits.
        if best <= now * (1.0 + 1e-9) {
            return false;
        }
        self.position[c as usize] = place;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Irregular, irregular};

    fn ascending_weight(graph: &Graph, line: &Line) -> f64 {
        let place = line.places().place;
        let turns = (0..graph.channels as u32)
            .flat_map(|c| graph.leaving(graph.to[c as usize]).iter().map(move |next| (c, *next)));
        turns
            .filter(|(c, next)| *next != c ^ 1 && place[*c as usize] < place[*next as usize])
            .map(|(c, next)| line.weight[graph.turn(c, next)])
            .sum()
    }

    #[test]
    fn no_pass_makes_what_ascends_weigh_less() {
        for seed in 0..5 {
            let network =
                irregular(Irregular { switches: 20, degree: 4, end_nodes: 1, parallel: seed % 2 == 0 }, seed)
                    .unwrap();
            let graph = Graph::of(&network);
            let mut random = Random::new(seed);
            let mut line = Line::new(&graph, &Places::new((0..graph.channels as u32).collect()));
            line.weight.iter_mut().for_each(|weight| *weight = random.unit());
            let first = ascending_weight(&graph, &line);
            let mut last = first;
            for _ in 0..30 {
                line.pass(&graph, 1.0, &mut random);
                let now = ascending_weight(&graph, &line);
                assert!(now > last - 1e-9, "seed {seed}: {now} after {last}");
                last = now;
            }
            assert!(last > 1.2 * first, "{last} from {first}");
        }
    }
}
