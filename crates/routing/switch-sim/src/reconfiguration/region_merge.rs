//! Regions of a directed graph with more than one root, and how to merge them.

use super::directed_graph::{DirectedGraph, UNREACHABLE};
use std::cmp::Reverse;

/// A switch reverses its links to some of the neighbours above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchReversal {
    /// The switch.
    pub switch: u32,
    /// Its links whose other ends are up and will be down.
    pub links: Vec<u32>,
    /// How many links to this switch others must have reversed before.
    pub prerequisites: u32,
}

/// A false root becomes lower than another region: the switches between the border and the false root
/// reverse their links, each after those below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionMerge {
    /// A switch of the region with a neighbour above it in another region.
    pub border: u32,
    /// The false root.
    pub root: u32,
    /// What the switches between the two reverse.
    pub reversals: Vec<SwitchReversal>,
}

impl RegionMerge {
    /// The links that are reversed.
    pub fn links(&self) -> impl Iterator<Item = u32> + '_ {
        self.reversals.iter().flat_map(|reversal| &reversal.links).copied()
    }
}

/// The merges after which every connected part of a graph has one root again. The root of the largest
/// region stays.
pub fn region_merges(graph: &DirectedGraph) -> Vec<RegionMerge> {
    let mut graph = graph.clone();
    let mut merges = Vec::new();
    while let Some(merge) = next_merge(&graph) {
        merge.links().for_each(|link| graph.second_is_up[link as usize] ^= true);
        merges.push(merge);
    }
    merges
}

/// The merge with the fewest switches between border and false root.
fn next_merge(graph: &DirectedGraph) -> Option<RegionMerge> {
    let roots = graph.roots();
    // By root: the switches that can reach it by going up.
    let climbs_to = |root: &u32| {
        let level = graph.search(*root, |link, s| !graph.leads_up(link, s));
        level.iter().map(|l| *l != UNREACHABLE).collect()
    };
    let regions: Vec<Vec<bool>> = roots.iter().map(climbs_to).collect();
    let size = |i: usize| regions[i].iter().filter(|is_inside| **is_inside).count();
    let mut best: Option<(usize, u32, u32, Vec<bool>)> = None;
    for (i, root) in roots.iter().enumerate() {
        let connected = graph.component(*root);
        let stays = (0..roots.len())
            .filter(|j| connected.contains(&roots[*j]))
            .max_by_key(|j| (size(*j), Reverse(roots[*j])));
        if stays == Some(i) {
            continue;
        }
        for border in (0..graph.size()).filter(|b| regions[i][*b as usize]) {
            if !graph.neighbours_above(border).any(|(_, up)| !regions[i][up as usize]) {
                continue;
            }
            // The switches between the border and the root.
            let above = graph.search(border, |link, s| graph.leads_up(link, s));
            let between: Vec<bool> = above
                .iter()
                .zip(&regions[i])
                .map(|(level, inside)| *level != UNREACHABLE && *inside)
                .collect();
            let count = between.iter().filter(|b| **b).count();
            if best.as_ref().is_none_or(|b| count < b.0) {
                best = Some((count, border, *root, between));
            }
        }
    }
    let (_, border, root, between) = best?;
    let is_between = |s: u32| between[s as usize];
    let reversal = |switch: u32| {
        let above = graph.neighbours_above(switch).filter(|(_, up)| is_between(*up));
        let is_below = |(link, other): &(u32, u32)| is_between(*other) && !graph.leads_up(*link, switch);
        SwitchReversal {
            switch,
            links: above.map(|(link, _)| link).collect(),
            prerequisites: graph.neighbours(switch).filter(is_below).count() as u32,
        }
    };
    let reversals = (0..graph.size()).filter(|s| is_between(*s)).map(reversal).collect();
    Some(RegionMerge { border, root, reversals })
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_route::{Random, generate};

    /// A random network of which the root, a link in every second case and another switch in every third
    /// have failed.
    fn failed(seed: u64, random: &mut Random) -> DirectedGraph {
        let switches = 8 + seed as usize % 17;
        let shape = generate::Irregular { switches, degree: 3, end_nodes: 0, parallel: false };
        let network = generate::irregular(shape, seed).unwrap();
        let links: Vec<(u32, u32)> =
            network.channel_ids().step_by(2).map(|c| (network.from(c).0, network.to(c).0)).collect();
        let working = vec![true; links.len()];
        let mut graph = DirectedGraph::breadth_first(vec![true; switches], links, working, 0);
        graph.is_alive[0] = false;
        if seed % 3 == 0 {
            graph.is_alive[1 + random.below(7)] = false;
        }
        let link = random.below(graph.links.len());
        graph.is_link_alive[link] = seed % 2 == 0;
        graph
    }

    /// Makes the reversals of a merge in a random order that respects the prerequisites. Checks the graph
    /// after each.
    fn reverse_in_random_order(graph: &mut DirectedGraph, merge: &RegionMerge, random: &mut Random) -> u32 {
        let roots = graph.roots().len();
        let mut remaining = merge.reversals.clone();
        let mut reversed_links = vec![0; graph.is_alive.len()];
        let mut made = 0;
        while !remaining.is_empty() {
            let ready: Vec<usize> = (0..remaining.len())
                .filter(|i| reversed_links[remaining[*i].switch as usize] == remaining[*i].prerequisites)
                .collect();
            let reversal = remaining.swap_remove(ready[random.below(ready.len())]);
            for link in reversal.links {
                let (a, b) = graph.links[link as usize];
                graph.second_is_up[link as usize] ^= true;
                reversed_links[if a == reversal.switch { b } else { a } as usize] += 1;
            }
            assert!(graph.is_acyclic());
            assert!(graph.roots().len() <= roots, "no new root");
            made += 1;
        }
        made
    }

    #[test]
    fn after_any_failure_merges_leave_one_root_and_no_reversal_makes_a_cycle() {
        let mut reversals = 0;
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let mut graph = failed(seed, &mut random);
            for merge in region_merges(&graph) {
                reversals += reverse_in_random_order(&mut graph, &merge, &mut random);
            }
            let distances = graph.distances();
            for root in graph.roots() {
                let part = graph.component(root);
                assert_eq!(graph.roots().iter().filter(|r| part.contains(r)).count(), 1, "seed {seed}");
                let is_reached = |a: &u32, b: &u32| distances[*b as usize][0][*a as usize] != UNREACHABLE;
                assert!(part.iter().all(|a| part.iter().all(|b| is_reached(a, b))), "seed {seed}");
            }
        }
        assert!(reversals > 50, "{reversals}");
    }
}
