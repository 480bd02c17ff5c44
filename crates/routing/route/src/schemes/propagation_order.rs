//! The propagation-order spanning tree: what an Autonet reconfiguration leaves behind.

use super::breadth_first::by_level;
use crate::network::{Network, SwitchId};
use crate::order::SwitchOrder;
use evenkeel_random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The switch that begins is the root; each other switch joins below the one whose message reaches it
/// first and passes the message on to all neighbours. How long a message takes is drawn for each,
/// evenly from one unit to two, so that the tree depends on who begins and on timing as it does in a
/// real network (Alfaro et al., CANPC 2000, section 2).
pub fn post(network: &Network, begins: SwitchId, random: &mut Random) -> SwitchOrder {
    let mut level = vec![None; network.switches().len()];
    // Times in millionths of a unit: whole numbers can be compared.
    let mut messages = BinaryHeap::from([Reverse((0_u64, begins, 0_u32))]);
    while let Some(Reverse((time, at, depth))) = messages.pop() {
        if level[at.index()].is_some() {
            continue;
        }
        level[at.index()] = Some(depth);
        for c in network.leaving(at) {
            let takes = 1_000_000 + random.below(1_000_000) as u64;
            messages.push(Reverse((time + takes, network.to(*c), depth + 1)));
        }
    }
    by_level(network, &level)
}
