//! The order of breadth-first trees: up*/down* routing as in Autonet and Myrinet.

use crate::network::{Network, SwitchId};
use crate::order::SwitchOrder;

/// The order in which switches nearer to the root are higher, and lower numbers are higher at equal
/// distance (Schroeder et al. 1991). With root 0 this is the *minimum-depth spanning tree* (MDST) of Alfaro
/// et al.
pub fn breadth_first(network: &Network, root: SwitchId) -> SwitchOrder {
    by_level(network, &network.distances(root))
}

/// The order in which lower levels are higher, and lower numbers are higher at the same level.
pub(super) fn by_level(network: &Network, level: &[Option<u32>]) -> SwitchOrder {
    let mut all: Vec<SwitchId> = network.switch_ids().collect();
    all.sort_by_key(|s| std::cmp::Reverse((level[s.index()].unwrap_or(u32::MAX), *s)));
    SwitchOrder::from_lowest(&all)
}

/// The switch with the least mean distance to all others, and among equals the one with the lowest number.
/// Sancho, Robles and Duato use it as the root. O(switches · cables).
pub fn best_root(network: &Network) -> SwitchId {
    let sum =
        |s: &SwitchId| network.distances(*s).iter().map(|d| u64::from(d.unwrap_or(u32::MAX))).sum::<u64>();
    network.switch_ids().min_by_key(sum).unwrap_or(SwitchId(0))
}
