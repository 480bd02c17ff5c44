//! Takes load off the busiest channel, as long as something can be taken.

use super::super::Graph;
use super::PlaceTo;
use super::paths::Paths;

/// One way to relieve a channel: `at` sends on by `channel` instead.
struct Move {
    end_node: u32,
    at: u32,
    channel: u32,
    weight: u32,
    longer: i64,
    /// The greatest load on the new way after the move.
    peak: u32,
}

impl Move {
    /// What is better: first the move that makes paths least longer, then the one with the lowest peak.
    fn cost(&self) -> (i64, u32) {
        (self.longer.max(0) * i64::from(self.weight), self.peak)
    }
}

struct Mend<'a, 'p> {
    graph: &'a Graph,
    place: PlaceTo<'a, 'p>,
    /// Switches that may still be looked at.
    looks: u64,
    /// Hops that all pairs together may still become longer by.
    spare: i64,
}

/// Moves parts of trees away from the busiest channel, to where the greatest load stays below what it
/// was. Each move makes the loads, sorted from the greatest down, smaller in the order of words, so
/// that it comes to an end. `place` gives the order of the channels for the trees of a switch; all
/// pairs' paths together may become longer by `spare` hops.
pub(super) fn mend(paths: &mut Paths, graph: &Graph, place: PlaceTo, looks: u32, spare: i64) {
    let mut mend = Mend { graph, place, looks: u64::from(looks) * graph.channels as u64, spare };
    while mend.looks > 0 {
        let Some(busiest) =
            (0..graph.channels as u32).max_by_key(|c| (paths.load[*c as usize], std::cmp::Reverse(*c)))
        else {
            return;
        };
        let Some(m) = mend.best_move(paths, busiest) else { return };
        mend.spare -= m.longer * i64::from(m.weight);
        paths.move_to(m.end_node, m.at, m.channel, m.weight, m.longer, graph);
    }
}

impl Mend<'_, '_> {
    fn best_move(&mut self, paths: &Paths, busiest: u32) -> Option<Move> {
        let start = self.graph.from[busiest as usize];
        let mut best: Option<Move> = None;
        for e in (0..paths.end_nodes()).filter(|e| paths.next(*e, start) == Some(busiest)) {
            for (at, weight) in paths.subtree(e, start, self.graph) {
                if weight > 0 {
                    self.moves(paths, e, at, weight, paths.load[busiest as usize], &mut best);
                }
            }
            // A move that makes nothing longer is good enough: looking further would cost more than it
            // brings.
            if self.looks == 0 || best.as_ref().is_some_and(|b| b.longer <= 0) {
                break;
            }
        }
        best
    }

    /// Tries the other channels of a switch for what it sends to an end node.
    fn moves(&mut self, paths: &Paths, e: u32, at: u32, weight: u32, limit: u32, best: &mut Option<Move>) {
        self.looks = self.looks.saturating_sub(1);
        let place = (self.place)(paths.root(e)).map(|order| &order.place);
        let before = |c: u32, other: u32| place.is_none_or(|place| place[c as usize] < place[other as usize]);
        let now = paths.next(e, at);
        // Whatever hangs below `at` must still ascend; it is enough that the latest of its channels does.
        let below = self
            .graph
            .entering(at)
            .iter()
            .copied()
            .filter(|c| paths.next(e, self.graph.from[*c as usize]) == Some(*c));
        let latest = below.max_by_key(|c| place.map_or(0, |place| place[*c as usize]));
        let mut old = None;
        for c in self
            .graph
            .leaving(at)
            .iter()
            .copied()
            .filter(|c| Some(*c) != now && paths.load[*c as usize] + weight < limit)
        {
            let to = self.graph.to[c as usize];
            let onward = paths.next(e, to);
            let leads_on = onward.map_or(to == paths.root(e), |onward| before(c, onward));
            if !leads_on || latest.is_some_and(|child| !before(child, c)) {
                continue;
            }
            let old: &Vec<u32> = old.get_or_insert_with(|| paths.path(e, at, self.graph));
            let Some((peak, length)) = way(paths, self.graph, e, c, old, weight) else { continue };
            let candidate =
                Move { end_node: e, at, channel: c, weight, longer: length - old.len() as i64, peak };
            // Without an order nothing but its length keeps a way from leading back to where it began.
            let allowed =
                if place.is_some() { candidate.cost().0 <= self.spare } else { candidate.longer <= 0 };
            if peak < limit && allowed && best.as_ref().is_none_or(|b| candidate.cost() < b.cost()) {
                *best = Some(candidate);
            }
        }
    }
}

/// The greatest load on the way by channel `c`, were it to carry `weight` more than now, and its
/// length. Channels of the `old` way carry the weight already; `None` if the busiest of those is among
/// them.
fn way(paths: &Paths, graph: &Graph, e: u32, c: u32, old: &[u32], weight: u32) -> Option<(u32, i64)> {
    let (mut peak, mut length, mut on) = (0, 0, Some(c));
    let busiest = old.iter().map(|c| paths.load[*c as usize]).max();
    while let Some(c) = on {
        let shared = old.contains(&c);
        if shared && Some(paths.load[c as usize]) == busiest {
            return None;
        }
        peak = peak.max(paths.load[c as usize] + if shared { 0 } else { weight });
        length += 1;
        on = paths.next(e, graph.to[c as usize]);
    }
    Some((peak, length))
}
