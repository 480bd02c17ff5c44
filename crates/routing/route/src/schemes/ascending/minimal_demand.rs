//! What minimal paths would like: how much each turn would carry if every turn were allowed.

use crate::tables::Graph;

/// Fills in, by turn, the pairs of end nodes whose minimal paths use it; a switch shares what it sends
/// evenly among its channels that lead nearer. O(switches · turns).
pub(super) fn weigh(graph: &Graph, weight: &mut [f64]) {
    weight.fill(0.0);
    let mut distance = vec![0_u32; graph.switches];
    let mut through = vec![0.0; graph.switches];
    for root in 0..graph.switches as u32 {
        let order = breadth_first(graph, root, &mut distance);
        let receivers = f64::from(graph.receiving[root as usize]) + 1e-3;
        through
            .iter_mut()
            .zip(&graph.weight)
            .for_each(|(through, weight)| *through = f64::from(*weight) + 1e-3);
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
                let on = nearer(to).count() as f64;
                nearer(to).for_each(|next| weight[graph.turn(c, next)] += receivers * flow / on);
            }
        }
    }
}

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
