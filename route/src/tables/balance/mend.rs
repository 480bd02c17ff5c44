//! Takes load off the busiest channel, as long as something can be taken.

use super::super::Graph;
use super::Effort;
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

/// Moves parts of trees away from the busiest channel, to where the greatest load stays below what it was. Each move makes the loads, sorted from the greatest down,
/// smaller in the order of words, so that it comes to an end. `place` gives the order of the channels for the trees of a switch.
pub(super) fn mend<'a>(paths: &mut Paths, graph: &Graph, place: &dyn Fn(u32) -> &'a [u32], effort: Effort) {
    let mut looks = u64::from(effort.looks) * graph.channels as u64;
    let mut spare = (paths.total_hops() as f64 * effort.longer) as i64;
    let mut subtree = Vec::new();
    // Channels that nothing could be taken from since a load last changed.
    let mut stuck = vec![false; graph.channels];
    loop {
        let Some(busiest) = (0..graph.channels as u32).filter(|c| !stuck[*c as usize]).max_by_key(|c| (paths.load[*c as usize], std::cmp::Reverse(*c))) else { return };
        let greatest = paths.load.iter().copied().max().unwrap_or(0);
        // Once the greatest load of all cannot be lowered, lowering others changes nothing that counts.
        if paths.load[busiest as usize] < greatest || greatest == 0 {
            return;
        }
        match best_move(paths, graph, place, busiest, spare, &mut looks, &mut subtree) {
            Some(m) => {
                paths.move_to(m.end_node, m.at, m.channel, m.weight, m.longer, graph);
                spare -= m.longer * i64::from(m.weight);
                stuck.fill(false);
            }
            None => return,
        }
        if looks == 0 {
            return;
        }
    }
}

/// The move that makes paths least longer, and among those the one with the lowest peak.
fn best_move<'a>(paths: &Paths, graph: &Graph, place: &dyn Fn(u32) -> &'a [u32], busiest: u32, spare: i64, looks: &mut u64, subtree: &mut Vec<u32>) -> Option<Move> {
    let start = graph.from[busiest as usize];
    let limit = paths.load[busiest as usize];
    let mut best: Option<Move> = None;
    for e in (0..paths.end_nodes()).filter(|e| paths.next(*e, start) == Some(busiest)) {
        if *looks == 0 {
            return best;
        }
        *looks -= 1;
        let place = place(paths.root(e));
        let mut all = Vec::new();
        paths.subtree(e, start, graph, &mut all);
        for at in all {
            let weight = paths.subtree(e, at, graph, subtree);
            if weight == 0 {
                continue;
            }
            // The switches that hang below `at` must still ascend.
            let children = graph.entering(at).iter().filter(|c| paths.next(e, graph.from[**c as usize]) == Some(**c));
            let earliest = children.map(|c| place[*c as usize]).max();
            let old = paths.path(e, at, graph);
            let length = old.len() as i64;
            for c in paths.leaving(at).iter().copied() {
                let to = graph.to[c as usize];
                let onward = paths.next(e, to);
                let ascends = onward.map_or(to == paths.root(e), |onward| place[c as usize] < place[onward as usize]);
                if !ascends || earliest.is_some_and(|p| p >= place[c as usize]) || Some(c) == paths.next(e, at) {
                    continue;
                }
                let Some((peak, new_length)) = way(paths, graph, e, c, &old, weight) else { continue };
                let longer = new_length - length;
                let gain = |m: &Move| (m.longer.max(0), m.peak);
                let better = best.as_ref().is_none_or(|b| (longer.max(0), peak) < gain(b));
                if peak < limit && longer.max(0) * i64::from(weight) <= spare && better {
                    best = Some(Move { end_node: e, at, channel: c, weight, longer, peak });
                }
            }
        }
        if best.as_ref().is_some_and(|b| b.longer <= 0) {
            return best;
        }
    }
    best
}

/// The greatest load on the way by channel `c`, were it to carry `weight` more than now, and its length. Channels of the `old` way carry the weight already;
/// `None` if the first of those, which is to be relieved or leads there, is among them.
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
