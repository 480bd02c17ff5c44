//! Searches among the orders of the switches: genetic, by single moves, and exhaustive. What an order
//! is worth is the caller's to say.

use crate::network::{Network, SwitchId};
use crate::order::{ChannelOrder, SwitchOrder};
use crate::tables::{Graph, Places, rough_load};
use evenkeel_random::Random;
use std::collections::HashSet;

/// What an order is worth: less is better. A simulated saturation throughput is one, negated
/// ([`static_fitness`] is quicker).
pub type Fitness<'a> = dyn FnMut(&SwitchOrder) -> f64 + 'a;

/// The load of the busiest channel of balanced tables under up*/down* routing. It stands in for
/// simulated throughput, which no packet has to be sent for.
pub fn static_fitness(network: &Network) -> impl FnMut(&SwitchOrder) -> f64 + '_ {
    let graph = Graph::of(network);
    move |order| rough_load(network, &graph, &Places::of(network, &ChannelOrder::up_down(network, order)))
}

/// How a genetic search goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Genetic {
    pub population: usize,
    /// How many of the worst are replaced in a generation.
    pub replaced: usize,
    pub generations: usize,
    /// How likely a child has one switch moved to a random place.
    pub mutation: f64,
}

impl Default for Genetic {
    /// Population and replacement are those of Alfaro et al. (CANPC 2000, section 3); how long, and how
    /// likely a mutation is, they do not say.
    fn default() -> Genetic {
        Genetic { population: 12, replaced: 4, generations: 100, mutation: 0.5 }
    }
}

/// The genetic search of Alfaro et al.: the worst orders die, and the two best have children by
/// crossing at a random point. An order here is a permutation of the switches, not a direction for each
/// link as theirs, so that no child has a cycle; children with several roots are rejected as theirs
/// are. `seeds` are orders of the first population, which random ones complete.
pub fn genetic(
    network: &Network,
    seeds: &[SwitchOrder],
    of: Genetic,
    fitness: &mut Fitness,
    random: &mut Random,
) -> SwitchOrder {
    let mut population: Vec<(f64, SwitchOrder)> =
        seeds.iter().map(|order| (fitness(order), order.clone())).collect();
    while population.len() < of.population.max(2) {
        let order = random_order(network, random);
        population.push((fitness(&order), order));
    }
    for _ in 0..of.generations {
        population.sort_by(|a, b| a.0.total_cmp(&b.0));
        population.truncate(population.len() - of.replaced.min(population.len() - 2));
        let parents = [population[0].1.lowest_first(), population[1].1.lowest_first()];
        while population.len() < of.population {
            let first = random.below(2);
            let child = crossed(&parents[first], &parents[1 - first], random);
            let child = if random.unit() < of.mutation { moved(&child, random) } else { child };
            let order = SwitchOrder::from_lowest(&child);
            if order.roots(network) == 1 {
                population.push((fitness(&order), order));
            }
        }
    }
    population.sort_by(|a, b| a.0.total_cmp(&b.0));
    population.swap_remove(0).1
}

/// Moves one switch at a time to a random place in the order, and keeps what is no worse.
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
            let worth = fitness(&order);
            if worth <= best.0 {
                best = (worth, order);
            }
        }
    }
    best.1
}

/// The most switches whose orders can all be tried.
pub const MOST_EXHAUSTIVE: usize = 8;

/// The best of all orders with one root. Orders that give every cable the same direction are tried once.
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
            let worth = fitness(&order);
            if best.as_ref().is_none_or(|b| worth < b.0) {
                best = Some((worth, order));
            }
        }
    });
    best.map_or_else(|| SwitchOrder::from_lowest(&[]), |b| b.1)
}

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

/// A random order with one root: from a random root, each next lower switch is a random neighbour of
/// those that have a place.
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

/// The first part of one order, up to a random point, then what is left in the order of the other.
fn crossed(one: &[SwitchId], other: &[SwitchId], random: &mut Random) -> Vec<SwitchId> {
    let mut child = one[..random.below(one.len() + 1)].to_vec();
    let had: HashSet<SwitchId> = child.iter().copied().collect();
    child.extend(other.iter().copied().filter(|s| !had.contains(s)));
    child
}

fn moved(order: &[SwitchId], random: &mut Random) -> Vec<SwitchId> {
    let mut order = order.to_vec();
    if !order.is_empty() {
        let s = order.remove(random.below(order.len()));
        order.insert(random.below(order.len() + 1), s);
    }
    order
}
