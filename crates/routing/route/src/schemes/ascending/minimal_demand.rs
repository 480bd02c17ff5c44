//! The demand of minimal paths for turns: how much each turn would carry if every turn were allowed.

use super::evaluation::EMPTY_SWITCH;
use crate::tables::Graph;

/// Fills in, by turn, the pairs of end nodes whose minimal paths use it.
///
/// A switch divides its packets equally among all channels that lead nearer. O(switches · turns).
pub(super) fn fill_in(graph: &Graph, weight: &mut [f64]) {
    weight.fill(0.0);
    let mut distance = vec![0_u32; graph.switches];
    let mut through = vec![0.0; graph.switches];
    for root in 0..graph.switches as u32 {
        let order = breadth_first(graph, root, &mut distance);
        let receivers = f64::from(graph.receivers[root as usize]) + EMPTY_SWITCH;
        through
            .iter_mut()
            .zip(&graph.senders)
            .for_each(|(through, senders)| *through = f64::from(*senders) + EMPTY_SWITCH);
        let nearer = |s: u32| {
            graph.leaving(s).iter().copied().filter(|c| {
                distance[graph.to[*c as usize] as usize] < distance[graph.from[*c as usize] as usize]
            })
        };
        for s in order[1..].iter().rev() {
            let flow = through[*s as usize] / nearer(*s).count() as f64;
            for c in nearer(*s) {
                let to = graph.to[c as usize];
                through[to as usize] += flow;
                let channels = nearer(to).count() as f64;
                nearer(to).for_each(|next| weight[graph.turn(c, next)] += receivers * flow / channels);
            }
        }
    }
}

/// The switches by their distance to a root. Fills in the distances.
fn breadth_first(graph: &Graph, root: u32, distance: &mut [u32]) -> Vec<u32> {
    distance.fill(u32::MAX);
    distance[root as usize] = 0;
    let mut order = vec![root];
    let mut i = 0;
    while let Some(at) = order.get(i).copied() {
        i += 1;
        for c in graph.entering(at) {
            let s = graph.from[*c as usize];
            if distance[s as usize] == u32::MAX {
                distance[s as usize] = distance[at as usize] + 1;
                order.push(s);
            }
        }
    }
    order
}
