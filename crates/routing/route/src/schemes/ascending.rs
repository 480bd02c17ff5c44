//! Our own scheme: a search among the orders of the *channels* for short paths and low load on one
//! lane.
//!
//! Orders of the switches, among which the literature searches, allow a turn in both directions or in
//! neither, and one switch is the root that everything crosses. An order of the channels is bound to
//! neither. What an order is worth is seen from the trees of shortest ascending paths under it
//! ([`Measure`]): their hops, which turns they use, and which turns they would use to become shorter if
//! these were allowed. Turns so weighted make a linear ordering problem: put the channels in line so
//! that the turns that ascend weigh as much as can be. One channel's best place in the line is found
//! from its few neighbours alone ([`Line`]), so that a whole new order costs less than measuring it.
//! The search goes from the best order so far to the next by weights with noise, and keeps what is no
//! worse.

mod batched_trees;
mod evaluation;
mod greedy_trees;
mod linear_ordering;
mod minimal_demand;

use crate::network::{Channel, Network};
use crate::order::ChannelOrder;
use crate::schemes::{best_root, breadth_first, depth_first_from};
use crate::tables::{Graph, Places, rough_load};
use evaluation::Measure;
use evenkeel_random::Random;
use linear_ordering::Line;

/// How much to search. Counted in steps, so that the same search gives the same order everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Orders that are measured, in units of what a network of that size gets by default.
    pub effort: f64,
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Search {
        Search { effort: 1.0, seed: 1 }
    }
}

/// Noise on the weights, as a share of them: enough that the search does not come back to where it was.
const NOISE: f64 = 0.8;
/// How much a turn that would shorten paths weighs against one that paths use, at least and at most: it
/// varies from step to step.
const GAIN: (f64, f64) = (0.1, 1.5);
/// Which share of the channels may move in a step: more after a step that was kept, less after one that
/// was not, so that about every third is kept.
const FIRST_SHARE: f64 = 0.2;
const AFTER_KEPT: f64 = 1.6;
const AFTER_NOT_KEPT: f64 = 0.8;
/// Which order is taken in the end: one per cent of hops is worth so many of load. On the 53 networks
/// of the book, loads are 0.45 of Nue's with 16 and 0.47 with 50, hops 0.964 and 0.963, and on none
/// there are more hops than Nue's.
const HOPS_COUNT: u32 = 16;
/// Passes over all channels to find a first order from weights.
const FIRST_PASSES: u32 = 30;

/// An order of the channels with short paths and low loads. `progress` is told the share that is done.
///
/// # Panics
/// If the network is not connected.
pub fn ascending(network: &Network, search: Search, progress: &mut dyn FnMut(f64)) -> ChannelOrder {
    assert!(network.connected(), "there is no path between some switches, under no order");
    channel_order(&best_places(network, &Graph::of(network), search, progress))
}

/// Orders for several lanes, and for each switch the lane on which packets to it and its end nodes
/// travel. Destinations are dealt out to the lanes, an order is searched for the destinations of each,
/// and then each destination goes to the lane where paths to it are shortest.
///
/// # Panics
/// If the network is not connected, or there is no lane.
pub fn ascending_lanes(
    network: &Network,
    search: Search,
    lanes: u8,
    progress: &mut dyn FnMut(f64),
) -> (Vec<ChannelOrder>, Vec<u8>) {
    assert!(lanes > 0 && network.connected(), "there is no lane, or no path between some switches");
    let mut graph = Graph::of(network);
    let mut dealt: Vec<u8> = (0..graph.switches).map(|i| (i % usize::from(lanes)) as u8).collect();
    Random::new(search.seed).shuffle(&mut dealt);
    let mut orders = Vec::new();
    for lane in 0..lanes {
        let receivers = graph.weight.iter().zip(&dealt);
        graph.receiving = receivers.map(|(weight, of)| if *of == lane { *weight } else { 0 }).collect();
        let mut progress = |share: f64| progress((f64::from(lane) + share) / f64::from(lanes));
        orders.push(best_places(network, &graph, search, &mut progress));
    }
    let mut measure = Measure::new(&graph);
    let lane = (0..graph.switches as u32).map(|root| {
        let hops = orders.iter().map(|order| measure.hops_to(&graph, order, root));
        let best = hops.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or(0, |(lane, _)| lane as u8)
    });
    let lane = lane.collect();
    (orders.iter().map(channel_order).collect(), lane)
}

/// Steps that are taken to find an order in which all switches reach each other.
const REACHING_STEPS: u32 = 400;

/// An order near another, in which all switches reach each other; nothing if none is found soon. Other
/// seeds find others.
pub(crate) fn reaching(network: &Network, order: &ChannelOrder, seed: u64) -> Option<ChannelOrder> {
    let graph = Graph::of(network);
    let mut climb = Climb::new(network, &graph, Places::of(network, order), seed);
    for _ in 0..REACHING_STEPS {
        if climb.measured.unreached == 0 {
            break;
        }
        climb.step();
    }
    (climb.measured.unreached == 0).then(|| channel_order(&climb.place))
}

fn channel_order(places: &Places) -> ChannelOrder {
    let lowest_first: Vec<Channel> = places.latest_first.iter().rev().map(|c| Channel(*c)).collect();
    ChannelOrder::from_lowest(&lowest_first)
}

fn best_places(network: &Network, graph: &Graph, search: Search, progress: &mut dyn FnMut(f64)) -> Places {
    let steps = steps(graph, search.effort);
    let starts = starts(network, graph, search.seed);
    let mut climbs: Vec<Climb> = starts
        .iter()
        .enumerate()
        .map(|(i, start)| Climb::new(network, graph, start.clone(), search.seed.wrapping_add(i as u64)))
        .collect();
    // An order that was there at the beginning may be the best: in a fat tree nothing can become shorter,
    // only more loaded.
    let mut best = climbs
        .iter()
        .map(|climb| (climb.score(), climb.place.clone()))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there are several starts");
    // A quarter of the steps for every start, the rest for the better two.
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
        let mut scored: Vec<(f64, Climb)> = climbs.into_iter().map(|climb| (climb.score(), climb)).collect();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        if scored[0].0 < best.0 {
            best = (scored[0].0, scored[0].1.place.clone());
        }
        climbs = scored.into_iter().take(2).map(|(_, climb)| climb).collect();
    }
    best.1
}

/// Beyond so many switches times channels, one greedy order has to do.
const LARGE: usize = 3_000_000;

/// Orders to begin with: breadth first, depth first, the two bent towards what minimal paths would like
/// best, and the better of two that greedily built trees leave.
fn starts(network: &Network, graph: &Graph, seed: u64) -> Vec<Places> {
    let root = best_root(network);
    let switch_orders = [breadth_first(network, root), depth_first_from(network, root)];
    let mut starts = Vec::new();
    for order in switch_orders {
        let order = ChannelOrder::up_down(network, &order);
        let place = Places::of(network, &order);
        let mut line = Line::new(graph, &place);
        let mut random = Random::new(seed);
        minimal_demand::weigh(graph, &mut line.weight);
        for _ in 0..FIRST_PASSES {
            if line.pass(graph, 1.0, &mut random) == 0 {
                break;
            }
        }
        starts.push(place);
        starts.push(line.places());
    }
    let mut measure = Measure::new(graph);
    // In large networks one of them takes as long as some steps, and is not better.
    let variants: &[bool] = if graph.switches * graph.channels > LARGE { &[false] } else { &[false, true] };
    let greedy = variants
        .iter()
        .map(|last| greedy_trees::places(graph, root.0, *last))
        .map(|place| (measure.flows(graph, &place), place));
    let better = greedy.min_by(|a, b| a.0.partial_cmp(&b.0).expect("sums of numbers"));
    starts.extend(better.map(|(_, place)| place));
    starts
}

/// Orders measured from each start: fewer in larger networks, where each costs more. The product is the
/// work of measuring one.
fn steps(graph: &Graph, effort: f64) -> u32 {
    let work = (graph.switches as f64 * graph.channels as f64).max(1.0);
    (effort * 40_000.0 / work.sqrt()).clamp(1.0, 400.0) as u32
}

/// The walk from one order to better ones.
struct Climb<'a> {
    network: &'a Network,
    graph: &'a Graph,
    line: Line,
    measure: Measure,
    random: Random,
    share: f64,
    place: Places,
    measured: evaluation::Measured,
    estimate: f64,
    /// Of `place`, by turn: what uses it, and what would gain from it.
    used: Vec<f64>,
    gain: Vec<f64>,
}

impl<'a> Climb<'a> {
    fn new(network: &'a Network, graph: &'a Graph, place: Places, seed: u64) -> Climb<'a> {
        let line = Line::new(graph, &place);
        let mut measure = Measure::new(graph);
        let estimate = measure.estimate(graph, &place);
        let measured = measure.flows(graph, &place);
        let (used, gain) = (measure.used.clone(), measure.gain.clone());
        Climb {
            network,
            graph,
            line,
            measure,
            random: Random::new(seed),
            share: FIRST_SHARE,
            place,
            measured,
            estimate,
            used,
            gain,
        }
    }

    /// What the order is worth: less is better. One per cent of hops counts as much as [`HOPS_COUNT`] of
    /// load.
    fn score(&self) -> f64 {
        match self.measured.unreached {
            // In logarithms, as such a power would not fit.
            0 => {
                f64::from(HOPS_COUNT) * self.measured.hops.ln()
                    + rough_load(self.network, self.graph, &self.place).max(1.0).ln()
            }
            unreached => 1e6 + f64::from(unreached),
        }
    }

    fn step(&mut self) {
        let gain = GAIN.0 + (GAIN.1 - GAIN.0) * self.random.unit();
        for ((weight, used), wanted) in self.line.weight.iter_mut().zip(&self.used).zip(&self.gain) {
            let noise = 1.0 + NOISE * (2.0 * self.random.unit() - 1.0);
            *weight = (used + gain * wanted) * noise;
        }
        self.line.set(&self.place);
        self.line.pass(self.graph, self.share, &mut self.random);
        let place = self.line.places();
        // Most steps lead nowhere, and most of those are seen from the estimate alone.
        let estimate = self.measure.estimate(self.graph, &place);
        let kept = estimate < self.estimate && self.keep(place, estimate);
        let least = 8.0 / self.graph.channels as f64;
        self.share = (self.share * if kept { AFTER_KEPT } else { AFTER_NOT_KEPT }).clamp(least.min(1.0), 1.0);
    }

    /// Goes on from an order, if it is better.
    fn keep(&mut self, place: Places, estimate: f64) -> bool {
        let measured = self.measure.flows(self.graph, &place);
        let better = measured < self.measured;
        if better {
            (self.place, self.measured, self.estimate) = (place, measured, estimate);
            std::mem::swap(&mut self.used, &mut self.measure.used);
            std::mem::swap(&mut self.gain, &mut self.measure.gain);
        }
        better
    }
}
