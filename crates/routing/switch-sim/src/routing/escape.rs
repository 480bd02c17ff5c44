//! Minimal adaptive routing with escape paths.

use super::function::{Routing, VirtualLane};
use super::table::TableRouting;
use crate::packet::Packet;
use crate::parameters::Switching;
use crate::wiring::{ChannelId, Node, Wiring};
use evenkeel_route::{EndNodeId, SwitchId};

/// Minimal adaptive routing with escape paths (Bermúdez et al., CANPC 2000, section 2.1; Duato 1993).
///
/// A packet takes any minimal channel with a free adaptive lane (1 and up), otherwise the channel of the
/// table on the escape lane (0).
#[derive(Clone, Debug)]
pub struct EscapeRouting {
    lanes: u8,
    /// Whether packets stay on escape lanes once they have taken one, as wormhole switching requires.
    stays_on_escape: bool,
    /// By host: its switch.
    host_switch: Vec<SwitchId>,
    /// The number of the first channel of a host.
    first_host_channel: u32,
    switches: usize,
    /// By pair of switches, at `at · switches + to`.
    minimal: Vec<Vec<ChannelId>>,
    escape: TableRouting,
}

impl EscapeRouting {
    /// Routing with at least 2 lanes. The escape table must be free of cycles for packets that enter it at
    /// any switch.
    pub fn new(wiring: &Wiring, escape: TableRouting, lanes: u8, switching: Switching) -> EscapeRouting {
        let distances = wiring.distances();
        let switches = wiring.switches();
        let minimal = |at: u32, to: u32| {
            let leads_nearer = |c: &&ChannelId| match wiring.to(**c) {
                Node::Switch(next) => {
                    distances[next.0 as usize][to as usize] < distances[at as usize][to as usize]
                }
                Node::Host(_) => false,
            };
            wiring.leaving(SwitchId(at)).iter().filter(leads_nearer).copied().collect()
        };
        EscapeRouting {
            lanes,
            stays_on_escape: switching == Switching::Wormhole,
            host_switch: (0..wiring.hosts()).map(|h| wiring.switch_of(EndNodeId(h))).collect(),
            first_host_channel: 2 * wiring.links().len() as u32,
            switches: switches as usize,
            minimal: (0..switches)
                .flat_map(|at| (0..switches).map(move |to| (at, to)))
                .map(|(at, to)| minimal(at, to))
                .collect(),
            escape,
        }
    }
}

impl Routing for EscapeRouting {
    fn candidates(&self, at: SwitchId, from: VirtualLane, packet: &Packet, out: &mut Vec<VirtualLane>) {
        let is_escaping = from.lane == 0 && from.channel.0 < self.first_host_channel;
        if !(self.stays_on_escape && is_escaping) {
            let to = self.host_switch[packet.destination.0 as usize];
            let channels = &self.minimal[at.0 as usize * self.switches + to.0 as usize];
            out.extend(
                channels
                    .iter()
                    .flat_map(|channel| (1..self.lanes).map(|lane| VirtualLane { channel: *channel, lane })),
            );
        }
        out.extend(self.escape.get(at, packet.destination.0).map(|l| VirtualLane { lane: 0, ..l }));
    }
}
