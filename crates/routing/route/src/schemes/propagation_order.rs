//! The propagation-order spanning tree (POST): the tree that a reconfiguration of Autonet results in.

use super::breadth_first::by_level;
use crate::network::{Network, SwitchId};
use crate::order::SwitchOrder;
use evenkeel_random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The order of a propagation-order spanning tree (Alfaro et al., CANPC 2000, section 2).
///
/// The switch that starts the reconfiguration is the root. Every other switch becomes a child of the switch
/// whose message reaches it first, and forwards the message to all neighbours. The time of each message is
/// random, uniformly distributed between one and two units. So the tree depends on the start and on timing,
/// as in a real network.
pub fn propagation_order(network: &Network, start: SwitchId, random: &mut Random) -> SwitchOrder {
    let mut level = vec![None; network.switches().len()];
    // Times are whole millionths of a unit, because whole numbers can be compared.
    let mut messages = BinaryHeap::from([Reverse((0_u64, start, 0_u32))]);
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
