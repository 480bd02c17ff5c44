//! Breadth-first trees: up*/down* routing as it was in Autonet and Myrinet.

use crate::network::{Network, SwitchId};
use crate::order::SwitchOrder;

/// The switch nearer to the root is higher; among those of one distance, the one with the lower number
/// (Schroeder et al. 1991). With root 0 this is the *minimum-depth spanning tree* (MDST) of Alfaro et
/// al.
pub fn breadth_first(network: &Network, root: SwitchId) -> SwitchOrder {
    by_level(network, &network.distances(root))
}

/// Lower levels are higher up, then lower numbers.
pub(super) fn by_level(network: &Network, level: &[Option<u32>]) -> SwitchOrder {
    let mut all: Vec<SwitchId> = network.switch_ids().collect();
    all.sort_by_key(|s| std::cmp::Reverse((level[s.index()].unwrap_or(u32::MAX), *s)));
    SwitchOrder::from_lowest(&all)
}

/// The switch with the least mean distance to all others, of equals the lowest: the root that Sancho,
/// Robles and Duato take. O(switches · cables).
pub fn best_root(network: &Network) -> SwitchId {
    let sum =
        |s: &SwitchId| network.distances(*s).iter().map(|d| u64::from(d.unwrap_or(u32::MAX))).sum::<u64>();
    network.switch_ids().min_by_key(sum).unwrap_or(SwitchId(0))
}
