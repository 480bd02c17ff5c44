//! Minimal adaptive routing with escape paths, as a routing function.

use crate::network::{Channel, Network, SwitchId};
use crate::table::{Destination, Table};

/// For each switch and destination: all channels that lead nearer, and one escape channel.
///
/// Each channel has two virtual channels (Bermúdez et al., CANPC 2000; Duato 1993). A packet takes any
/// minimal channel whose *adaptive* virtual channel is free. Otherwise it waits for the *escape* virtual
/// channel that the table names. Adaptive channels may take a packet to any switch, so the table must be
/// free of cycles for packets that enter it anywhere. Under virtual cut-through a packet may return to
/// adaptive channels at every switch. Under wormhole switching it must stay on escape channels.
#[derive(Clone, Debug)]
pub struct AdaptiveRouting {
    switches: usize,
    /// The minimal channels by destination switch and then by switch, one pair after the other.
    minimal: Vec<Channel>,
    /// By pair: where its channels begin.
    start: Vec<u32>,
    escape: Table,
}

impl AdaptiveRouting {
    /// Minimal channels of a network with a table of escape paths. O(switches · cables) in time and memory.
    pub fn new(network: &Network, escape: Table) -> AdaptiveRouting {
        let switches = network.switches().len();
        let (mut minimal, mut start) = (Vec::new(), vec![0]);
        for to in network.switch_ids() {
            let distance = network.distances(to);
            for at in network.switch_ids() {
                let nearer = |c: &Channel| {
                    distance[network.to(*c).index()].is_some_and(|d| Some(d + 1) == distance[at.index()])
                };
                minimal.extend(network.leaving(at).iter().copied().filter(nearer));
                start.push(minimal.len() as u32);
            }
        }
        AdaptiveRouting { switches, minimal, start, escape }
    }

    /// The channels from a switch that lead one hop nearer to another switch. Empty at that switch itself.
    pub fn minimal(&self, at: SwitchId, to: SwitchId) -> &[Channel] {
        let row = to.index() * self.switches + at.index();
        &self.minimal[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// The channel to wait for if no minimal one is free; `None` at the destination's switch.
    pub fn escape(&self, network: &Network, at: SwitchId, to: Destination) -> Option<Channel> {
        if to.switch(network) == at { None } else { self.escape.next(network, at, to) }
    }

    /// The table of escape paths.
    pub fn escape_table(&self) -> &Table {
        &self.escape
    }
}
