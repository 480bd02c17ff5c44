//! The order of depth-first trees (Sancho, Robles, Duato, CANPC 2000).

use crate::network::{Network, SwitchId};
use crate::order::{ChannelOrder, SwitchOrder};
use crate::source_routes::SourceRoutes;
use evenkeel_random::Random;

/// The order of the depth-first tree from one switch.
///
/// Among unvisited neighbours, the search visits the one with the largest mean distance to all others
/// first, and among equals the one with the lowest number. The path to the switch where it first turns back
/// is the *main branch*. Labels rise along the main branch, and its end is the root. Branches that hang
/// from a switch of the main branch get labels below that switch and above the switch before it, from their
/// leaves up. So no path of the tree turns from down to up. The paper's words allow several readings. This
/// is the one that never disconnects the network.
pub fn depth_first_from(network: &Network, start: SwitchId) -> SwitchOrder {
    labels(network, start, &sums_of_distances(network))
}

/// Of the depth-first orders from all switches, the one whose shortest allowed paths are shortest on
/// average, and among equals the one from the lowest switch. O(switches² · turns).
pub fn depth_first(network: &Network) -> SwitchOrder {
    let far = sums_of_distances(network);
    let orders = network.switch_ids().map(|start| labels(network, start, &far));
    let cost = |order: &SwitchOrder| {
        let order = ChannelOrder::up_down(network, order);
        let routes = SourceRoutes::shortest(network, &order, &mut Random::new(0));
        let hops = |a: SwitchId| network.switch_ids().map(|b| routes.path(a, b).len() as u64).sum::<u64>();
        network.switch_ids().map(hops).sum::<u64>()
    };
    orders.min_by_key(cost).unwrap_or_else(|| SwitchOrder::from_lowest(&[]))
}

/// By switch: the sum of its distances to all others.
fn sums_of_distances(network: &Network) -> Vec<u64> {
    let sum = |s: SwitchId| network.distances(s).iter().map(|d| u64::from(d.unwrap_or(0))).sum();
    network.switch_ids().map(sum).collect()
}

/// The order of the depth-first tree from a switch. `far` gives, by switch, the sum of its distances to all
/// others.
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
        // The branches that hang from `s` come before `s`, each of their switches after its children.
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
