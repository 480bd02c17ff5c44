//! Source routing.

use super::function::{Routing, VirtualLane};
use crate::packet::Packet;
use crate::wiring::{ChannelId, Node, Wiring};
use evenkeel_route::{EndNodeId, Network, SourceRoutes, SwitchId};

/// Source routing: one path for each pair of switches. A packet follows the path from the switch of its
/// source to the switch of its destination.
#[derive(Clone, Debug)]
pub struct SourceRouting {
    /// By host: its switch.
    host_switch: Vec<SwitchId>,
    switches: usize,
    /// By channel: the parallel channels that a packet may take instead.
    parallel: Vec<Vec<ChannelId>>,
    /// By pair of switches, at `from · switches + to`.
    paths: Vec<Vec<ChannelId>>,
}

impl SourceRouting {
    /// Routing by the paths that `path(from, to)` returns.
    pub fn new(wiring: &Wiring, path: impl Fn(SwitchId, SwitchId) -> Vec<ChannelId>) -> SourceRouting {
        let all = || (0..wiring.switches()).map(SwitchId);
        let paths =
            all().flat_map(|from| all().map(move |to| (from, to))).map(|(from, to)| path(from, to)).collect();
        SourceRouting {
            host_switch: (0..wiring.hosts()).map(|h| wiring.switch_of(EndNodeId(h))).collect(),
            switches: wiring.switches() as usize,
            parallel: vec![Vec::new(); wiring.channels() as usize],
            paths,
        }
    }

    /// The same paths, but a packet may take any parallel channel that is free.
    pub fn any_cable(self, wiring: &Wiring) -> SourceRouting {
        let parallel = |c: ChannelId| match wiring.from(c) {
            Node::Switch(s) => wiring
                .leaving(s)
                .iter()
                .copied()
                .filter(|other| *other != c && wiring.to(*other) == wiring.to(c))
                .collect(),
            Node::Host(_) => Vec::new(),
        };
        SourceRouting { parallel: (0..wiring.channels()).map(|c| parallel(ChannelId(c))).collect(), ..self }
    }

    /// Routing by the source routes of a network.
    pub fn of(network: &Network, routes: &SourceRoutes) -> SourceRouting {
        SourceRouting::new(&Wiring::of(network), |from, to| {
            routes.path(from, to).iter().map(|c| ChannelId(c.0)).collect()
        })
    }
}

impl Routing for SourceRouting {
    fn candidates(&self, _at: SwitchId, from: VirtualLane, packet: &Packet, out: &mut Vec<VirtualLane>) {
        let [source, destination] =
            [packet.source, packet.destination].map(|h| self.host_switch[h.0 as usize].0 as usize);
        let path = &self.paths[source * self.switches + destination];
        // Paths are short, and no path has a channel twice.
        let following = path
            .iter()
            .position(|c| *c == from.channel || self.parallel[c.0 as usize].contains(&from.channel))
            .map_or(0, |p| p + 1);
        let next = path.get(following);
        out.extend(
            next.into_iter()
                .chain(next.into_iter().flat_map(|c| &self.parallel[c.0 as usize]))
                .map(|channel| VirtualLane { channel: *channel, lane: from.lane }),
        );
    }
}
