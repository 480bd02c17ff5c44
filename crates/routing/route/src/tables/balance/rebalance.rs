//! Moves paths away from the busiest channel, as long as that lowers the greatest load.

use super::super::graph::Graph;
use super::super::positions::OrderForRoot;
use super::paths::Paths;
use std::cmp::Reverse;

/// A way to relieve a channel: switch `at` forwards packets to `end_node` by `channel` instead.
struct Reroute {
    end_node: u32,
    at: u32,
    channel: u32,
    /// End nodes that send through the switch.
    senders: u32,
    /// By how many hops the path becomes longer.
    longer: i64,
    /// The greatest load on the new path.
    peak: u32,
}

impl Reroute {
    /// The smaller, the better: first come the hops that are added in sum, then the peak load.
    fn cost(&self) -> (i64, u32) {
        (self.longer.max(0) * i64::from(self.senders), self.peak)
    }
}

/// What is left of the effort.
struct Rebalancer<'a, 'p> {
    graph: &'a Graph,
    order_for: OrderForRoot<'a, 'p>,
    /// Switches whose channels may still be examined.
    candidates: u64,
    /// Hops by which all paths together may still become longer.
    hop_budget: i64,
}

/// Moves parts of trees away from the busiest channel to channels whose load stays below what that channel
/// had.
///
/// With each move the loads, sorted from the greatest down, become lexicographically smaller, so this ends.
/// `candidates` is the number of switches to examine per channel. All paths together may become longer by
/// `hop_budget` hops.
pub(super) fn rebalance(
    paths: &mut Paths,
    graph: &Graph,
    order_for: OrderForRoot,
    candidates: u32,
    hop_budget: i64,
) {
    let candidates = u64::from(candidates) * graph.channels as u64;
    let mut rebalancer = Rebalancer { graph, order_for, candidates, hop_budget };
    while rebalancer.candidates > 0 {
        let by_load = |c: &u32| (paths.load[*c as usize], Reverse(*c));
        let Some(busiest) = (0..graph.channels as u32).max_by_key(by_load) else { return };
        let Some(best) = rebalancer.best_reroute(paths, busiest) else { return };
        rebalancer.hop_budget -= best.longer * i64::from(best.senders);
        paths.reroute(best.end_node, best.at, best.channel, best.senders, best.longer, graph);
    }
}

impl Rebalancer<'_, '_> {
    fn best_reroute(&mut self, paths: &Paths, busiest: u32) -> Option<Reroute> {
        let start = self.graph.from[busiest as usize];
        let mut best: Option<Reroute> = None;
        for e in (0..paths.end_nodes()).filter(|e| paths.next(*e, start) == Some(busiest)) {
            for (at, senders) in paths.subtree(e, start, self.graph) {
                if senders > 0 {
                    self.try_channels(paths, e, at, senders, paths.load[busiest as usize], &mut best);
                }
            }
            // A reroute that makes no path longer is good enough. Searching for a better one would cost
            // more time than it saves load.
            if self.candidates == 0 || best.as_ref().is_some_and(|b| b.longer <= 0) {
                break;
            }
        }
        best
    }

    /// Tries the other channels of a switch for its packets to an end node. Loads must stay below `limit`.
    fn try_channels(
        &mut self,
        paths: &Paths,
        e: u32,
        at: u32,
        senders: u32,
        limit: u32,
        best: &mut Option<Reroute>,
    ) {
        self.candidates = self.candidates.saturating_sub(1);
        let graph = self.graph;
        let position = (self.order_for)(paths.root(e)).map(|order| &order.position);
        let precedes = |c: u32, then: u32| position.is_none_or(|p| p[c as usize] < p[then as usize]);
        let now = paths.next(e, at);
        // The paths of the children must still ascend. If that of the latest child does, all do.
        let is_child = |c: &u32| paths.next(e, graph.from[*c as usize]) == Some(*c);
        let children = graph.entering(at).iter().copied().filter(is_child);
        let latest = children.max_by_key(|c| position.map_or(0, |p| p[*c as usize]));
        let has_room = |c: &u32| Some(*c) != now && paths.load[*c as usize] + senders < limit;
        let mut old_path = None;
        for c in graph.leaving(at).iter().copied().filter(has_room) {
            let to = graph.to[c as usize];
            let ascends = paths.next(e, to).map_or(to == paths.root(e), |next| precedes(c, next));
            if !ascends || latest.is_some_and(|child| !precedes(child, c)) {
                continue;
            }
            let old: &Vec<u32> = old_path.get_or_insert_with(|| paths.path(e, at, graph));
            let Some((peak, length)) = examine_path(paths, graph, e, c, old, senders) else { continue };
            let longer = length - old.len() as i64;
            let reroute = Reroute { end_node: e, at, channel: c, senders, longer, peak };
            // Without an order, only its length keeps a path from leading back to where it began.
            let is_allowed =
                if position.is_some() { reroute.cost().0 <= self.hop_budget } else { longer <= 0 };
            if peak < limit && is_allowed && best.as_ref().is_none_or(|b| reroute.cost() < b.cost()) {
                *best = Some(reroute);
            }
        }
    }
}

/// The greatest load on the path that begins with channel `c`, if it carried `senders` more, and its
/// length.
///
/// Channels of the `old` path carry the senders already. `None` if the busiest of those is on the new path
/// too.
fn examine_path(
    paths: &Paths,
    graph: &Graph,
    e: u32,
    c: u32,
    old: &[u32],
    senders: u32,
) -> Option<(u32, i64)> {
    let (mut peak, mut length, mut next) = (0, 0, Some(c));
    let busiest = old.iter().map(|c| paths.load[*c as usize]).max();
    while let Some(c) = next {
        let is_shared = old.contains(&c);
        if is_shared && Some(paths.load[c as usize]) == busiest {
            return None;
        }
        peak = peak.max(paths.load[c as usize] + if is_shared { 0 } else { senders });
        length += 1;
        next = paths.next(e, graph.to[c as usize]);
    }
    Some((peak, length))
}
