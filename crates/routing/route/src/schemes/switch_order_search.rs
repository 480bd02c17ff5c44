//! Searches among the orders of the switches: genetic, by single moves, and exhaustive. The caller provides
//! the fitness function.

use crate::network::{Network, SwitchId};
use crate::order::{ChannelOrder, SwitchOrder};
use crate::tables::{ChannelPositions, Graph, estimate_max_load};
use evenkeel_random::Random;
use std::collections::HashSet;

/// The fitness of an order: the smaller, the better. The negated throughput of a simulation is one;
/// [`static_fitness`] is faster.
pub type Fitness<'a> = dyn FnMut(&SwitchOrder) -> f64 + 'a;

/// The load of the busiest channel of balanced tables under up*/down* routing. It estimates throughput
/// without a simulation.
pub fn static_fitness(network: &Network) -> impl FnMut(&SwitchOrder) -> f64 + '_ {
    let graph = Graph::of(network);
    move |order| {
        let order = ChannelPositions::of(network, &ChannelOrder::up_down(network, order));
        estimate_max_load(network, &graph, &order)
    }
}

/// Parameters of the genetic search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneticParameters {
    /// Orders in a population.
    pub population: usize,
    /// How many of the worst are replaced in each generation.
    pub replaced: usize,
    /// Number of generations.
    pub generations: usize,
    /// Probability that one switch of a child moves to a random position.
    pub mutation: f64,
}

impl Default for GeneticParameters {
    /// Population and replacement are those of Alfaro et al. (CANPC 2000, section 3). They do not say how
    /// many generations they use, nor how probable a mutation is.
    fn default() -> GeneticParameters {
        GeneticParameters { population: 12, replaced: 4, generations: 100, mutation: 0.5 }
    }
}

/// The genetic search of Alfaro et al.: the worst orders are replaced by children of the two best, which
/// are crossed at a random point.
///
/// An order here is a permutation of the switches. Theirs is a direction for each link, which may form a
/// cycle. Children with several roots are rejected, as theirs are. The first population has the orders in
/// `seeds`, and random ones.
pub fn genetic(
    network: &Network,
    seeds: &[SwitchOrder],
    parameters: GeneticParameters,
    fitness: &mut Fitness,
    random: &mut Random,
) -> SwitchOrder {
    let mut population: Vec<(f64, SwitchOrder)> =
        seeds.iter().map(|order| (fitness(order), order.clone())).collect();
    while population.len() < parameters.population.max(2) {
        let order = random_order(network, random);
        population.push((fitness(&order), order));
    }
    for _ in 0..parameters.generations {
        population.sort_by(|a, b| a.0.total_cmp(&b.0));
        population.truncate(population.len() - parameters.replaced.min(population.len() - 2));
        let parents = [population[0].1.lowest_first(), population[1].1.lowest_first()];
        while population.len() < parameters.population {
            let first = random.below(2);
            let child = crossed(&parents[first], &parents[1 - first], random);
            let child = if random.unit() < parameters.mutation { moved(&child, random) } else { child };
            let order = SwitchOrder::from_lowest(&child);
            if order.roots(network) == 1 {
                population.push((fitness(&order), order));
            }
        }
    }
    population.sort_by(|a, b| a.0.total_cmp(&b.0));
    population.swap_remove(0).1
}

/// A local search: it moves one switch at a time to a random position, and keeps the new order if it is no
/// worse.
pub fn local_search(
    network: &Network,
    start: &SwitchOrder,
    moves: usize,
    fitness: &mut Fitness,
    random: &mut Random,
) -> SwitchOrder {
    let mut best = (fitness(start), start.clone());
    for _ in 0..moves {
        let order = SwitchOrder::from_lowest(&moved(&best.1.lowest_first(), random));
        if order.roots(network) == 1 {
            let value = fitness(&order);
            if value <= best.0 {
                best = (value, order);
            }
        }
    }
    best.1
}

/// The most switches for which [`exhaustive`] can try all orders.
pub const MOST_EXHAUSTIVE: usize = 8;

/// The best of all orders with one root. Of the orders that give every cable the same direction, only one
/// is tried.
///
/// # Panics
/// If there are more than [`MOST_EXHAUSTIVE`] switches.
pub fn exhaustive(network: &Network, fitness: &mut Fitness) -> SwitchOrder {
    let n = network.switches().len();
    assert!(n <= MOST_EXHAUSTIVE, "the orders of {n} switches are too many");
    let mut seen = HashSet::new();
    let mut best: Option<(f64, SwitchOrder)> = None;
    permutations(&mut (0..n as u32).map(SwitchId).collect::<Vec<_>>(), 0, &mut |lowest_first| {
        let order = SwitchOrder::from_lowest(lowest_first);
        let directions: Vec<bool> =
            network.channel_ids().step_by(2).map(|c| order.leads_up(network, c)).collect();
        if order.roots(network) == 1 && seen.insert(directions) {
            let value = fitness(&order);
            if best.as_ref().is_none_or(|b| value < b.0) {
                best = Some((value, order));
            }
        }
    });
    best.map_or_else(|| SwitchOrder::from_lowest(&[]), |b| b.1)
}

/// Calls a function with every permutation of the items after the `fixed` first.
fn permutations(items: &mut [SwitchId], fixed: usize, each: &mut impl FnMut(&[SwitchId])) {
    if fixed == items.len() {
        return each(items);
    }
    for i in fixed..items.len() {
        items.swap(fixed, i);
        permutations(items, fixed + 1, each);
        items.swap(fixed, i);
    }
}

/// A random order with one root. From a random root down, each switch is a random neighbour of the switches
/// before it.
fn random_order(network: &Network, random: &mut Random) -> SwitchOrder {
    let n = network.switches().len();
    let mut placed = vec![false; n];
    let mut open: Vec<SwitchId> = if n == 0 { Vec::new() } else { vec![SwitchId(random.below(n) as u32)] };
    let mut highest_first = Vec::new();
    while !open.is_empty() {
        let s = open.swap_remove(random.below(open.len()));
        if !std::mem::replace(&mut placed[s.index()], true) {
            highest_first.push(s);
            open.extend(network.leaving(s).iter().map(|c| network.to(*c)).filter(|to| !placed[to.index()]));
        }
    }
    highest_first.reverse();
    SwitchOrder::from_lowest(&highest_first)
}

/// A child of two orders: the beginning of one, up to a random point, then the other switches in the order
/// of the other.
fn crossed(one: &[SwitchId], other: &[SwitchId], random: &mut Random) -> Vec<SwitchId> {
    let mut child = one[..random.below(one.len() + 1)].to_vec();
    let present: HashSet<SwitchId> = child.iter().copied().collect();
    child.extend(other.iter().copied().filter(|s| !present.contains(s)));
    child
}

/// The order with one switch at a random new position.
fn moved(order: &[SwitchId], random: &mut Random) -> Vec<SwitchId> {
    let mut order = order.to_vec();
    if !order.is_empty() {
        let s = order.remove(random.below(order.len()));
        order.insert(random.below(order.len() + 1), s);
    }
    order
}
