//! Depth-first trees (Sancho, Robles, Duato, CANPC 2000).

use crate::network::{Network, SwitchId};
use crate::order::{ChannelOrder, SwitchOrder};
use crate::source_routes::SourceRoutes;
use evenkeel_random::Random;

/// The order of the depth-first tree from one switch.
///
/// Of the neighbours not yet visited the one with the largest mean distance to all others comes first,
/// of equals the lowest. The path down to where the search first turns back is the *main branch*.
/// Labels rise along it; what hangs from a switch of it is labelled below that switch and above the one
/// before, each branch from its leaves up, so that no path of the tree ever turns from down to up (of
/// the readings that the paper's words allow, this is the one that never cuts the network in pieces).
/// The end of the main branch is the root.
pub fn depth_first_from(network: &Network, start: SwitchId) -> SwitchOrder {
    let far: Vec<u64> = network
        .switch_ids()
        .map(|s| network.distances(s).iter().map(|d| u64::from(d.unwrap_or(0))).sum())
        .collect();
    labels(network, start, &far)
}

/// Of the orders from all switches, the one whose shortest allowed paths are shortest in the mean; of
/// equals, from the lowest switch. O(switches² · turns).
pub fn depth_first(network: &Network) -> SwitchOrder {
    let far: Vec<u64> = network
        .switch_ids()
        .map(|s| network.distances(s).iter().map(|d| u64::from(d.unwrap_or(0))).sum())
        .collect();
    let orders = network.switch_ids().map(|start| labels(network, start, &far));
    let cost = |order: &SwitchOrder| {
        let routes =
            SourceRoutes::shortest(network, &ChannelOrder::up_down(network, order), &mut Random::new(0));
        network
            .switch_ids()
            .map(|a| network.switch_ids().map(|b| routes.path(a, b).len() as u64).sum::<u64>())
            .sum::<u64>()
    };
    orders.min_by_key(cost).unwrap_or_else(|| SwitchOrder::from_lowest(&[]))
}

fn labels(network: &Network, start: SwitchId, far: &[u64]) -> SwitchOrder {
    let n = network.switches().len();
    let mut children: Vec<Vec<SwitchId>> = vec![Vec::new(); n];
    let mut visited = vec![false; n];
    visited[start.index()] = true;
    let mut branch = vec![start];
    let mut main: Vec<SwitchId> = Vec::new();
    while let Some(at) = branch.last().copied() {
        let unvisited = network.leaving(at).iter().map(|c| network.to(*c)).filter(|s| !visited[s.index()]);
        match unvisited.max_by_key(|s| (far[s.index()], std::cmp::Reverse(*s))) {
            Some(next) => {
                visited[next.index()] = true;
                children[at.index()].push(next);
                branch.push(next);
            }
            None => {
                if main.is_empty() {
                    main.clone_from(&branch);
                }
                branch.pop();
            }
        }
    }
    let mut on_main = vec![false; n];
    main.iter().for_each(|s| on_main[s.index()] = true);
    let mut lowest_first = Vec::new();
    for s in &main {
        // Below `s` come the branches that hang from it, each switch after those below it.
        let mut open = vec![(*s, 0)];
        while let Some((at, child)) = open.pop() {
            match children[at.index()].get(child) {
                Some(next) => {
                    open.push((at, child + 1));
                    if !on_main[next.index()] {
                        open.push((*next, 0));
                    }
                }
                None => lowest_first.push(at),
            }
        }
    }
    SwitchOrder::from_lowest(&lowest_first)
}
