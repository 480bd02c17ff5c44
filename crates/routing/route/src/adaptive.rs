//! Minimal adaptive routing with escape channels, as a routing function.

use crate::network::{Channel, Network, SwitchId};
use crate::table::{Destination, Table, home};

/// At each switch all channels that lead nearer to the destination, and one to escape by.
///
/// For two virtual channels on each channel (Bermúdez et al., CANPC 2000; Duato 1993): a packet takes
/// any minimal channel whose *adaptive* virtual channel is free, else it waits for the *escape* virtual
/// channel that the table names. The table must be free of cycles for packets that enter it at any
/// switch, since a packet may have got anywhere by adaptive channels. Under virtual cut-through a
/// packet may leave the escape channels again at every switch; under wormhole switching it must stay on
/// them.
#[derive(Clone, Debug)]
pub struct Adaptive {
    switches: usize,
    /// Minimal channels, for each destination switch and then each switch one after the other.
    minimal: Vec<Channel>,
    start: Vec<u32>,
    escape: Table,
}

impl Adaptive {
    /// O(switches · cables), in time and memory.
    pub fn new(network: &Network, escape: Table) -> Adaptive {
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
        Adaptive { switches, minimal, start, escape }
    }

    /// The channels by which a switch may send on what is for another switch or its end nodes, each of them
    /// one hop nearer. Empty at that switch itself.
    pub fn minimal(&self, at: SwitchId, to: SwitchId) -> &[Channel] {
        let row = to.index() * self.switches + at.index();
        &self.minimal[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// The channel to wait for when no minimal one is free; `None` at the destination's switch.
    pub fn escape(&self, network: &Network, at: SwitchId, to: Destination) -> Option<Channel> {
        if home(network, to) == at { None } else { self.escape.next(network, at, to) }
    }

    pub fn escape_table(&self) -> &Table {
        &self.escape
    }
}
