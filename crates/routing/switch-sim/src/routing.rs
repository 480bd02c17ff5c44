//! Where packets may go next.

use crate::parameters::Switching;
use crate::simulator::packet::Packet;
use crate::wiring::{ChannelId, End, Wiring};
use evenkeel_route::{Destination, EndNodeId, Network, SourceRoutes, SwitchId, Table};

/// A virtual channel of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lane {
    pub channel: ChannelId,
    pub lane: u8,
}

/// A routing function. It is asked again whenever something that a waiting head may want has become free.
pub trait Routing {
    /// The lanes a packet may leave `at` by, best first, into `out` (which is empty). `from` is the lane it
    /// came by. Nothing means that there is no way: the packet waits, for ever if the routing function does
    /// not change.
    fn candidates(&self, at: SwitchId, from: Lane, packet: &Packet, out: &mut Vec<Lane>);

    /// The lanes of the first channel, best first: any, if nothing else is said.
    fn first_lanes(&self, _packet: &Packet, lanes: u8, out: &mut Vec<u8>) {
        out.extend(0..lanes);
    }
}

/// One channel for each switch and destination, as forwarding tables have it.
#[derive(Clone, Debug)]
pub struct TableRouting {
    hosts: usize,
    /// `[switch · hosts + destination]`
    next: Vec<Option<Lane>>,
    /// Which lane packets start in, by destination.
    first: Vec<u8>,
}

impl TableRouting {
    /// An empty table. Every packet starts in lane 0.
    pub fn new(switches: u32, hosts: u32) -> TableRouting {
        let (switches, hosts) = (switches as usize, hosts as usize);
        TableRouting { hosts, next: vec![None; switches * hosts], first: vec![0; hosts] }
    }

    /// The entries for end nodes.
    pub fn of(network: &Network, table: &Table) -> TableRouting {
        let mut routing =
            TableRouting::new(network.switches().len() as u32, network.end_nodes().len() as u32);
        for e in network.end_node_ids() {
            let to = Destination::EndNode(e);
            let lane = table.lane(to);
            routing.start_in(e.0, lane);
            for at in network.switch_ids() {
                if let Some(channel) = table.next(network, at, to) {
                    routing.set(at, e.0, Lane { channel: ChannelId(channel.0), lane });
                }
            }
        }
        routing
    }

    pub fn set(&mut self, at: SwitchId, destination: u32, to: Lane) {
        self.next[at.0 as usize * self.hosts + destination as usize] = Some(to);
    }

    pub fn get(&self, at: SwitchId, destination: u32) -> Option<Lane> {
        self.next[at.0 as usize * self.hosts + destination as usize]
    }

    /// The lane of the first channel of packets to a destination.
    pub fn start_in(&mut self, destination: u32, lane: u8) {
        self.first[destination as usize] = lane;
    }
}

impl Routing for TableRouting {
    fn candidates(&self, at: SwitchId, _from: Lane, packet: &Packet, out: &mut Vec<Lane>) {
        out.extend(self.get(at, packet.destination.0));
    }

    fn first_lanes(&self, packet: &Packet, _lanes: u8, out: &mut Vec<u8>) {
        out.push(self.first[packet.destination.0 as usize]);
    }
}

/// One path for each pair of hosts' switches, found at the source: a packet to a switch follows the
/// path from the switch it started at.
#[derive(Clone, Debug)]
pub struct SourceRouting {
    home: Vec<SwitchId>,
    switches: usize,
    /// By channel: the others that lead from the same switch to the same switch, if any of them will do.
    beside: Vec<Vec<ChannelId>>,
    /// `[from · switches + to]`
    paths: Vec<Vec<ChannelId>>,
}

impl SourceRouting {
    /// `path(from, to)` gives the channels from a switch to another.
    pub fn new(wiring: &Wiring, path: impl Fn(SwitchId, SwitchId) -> Vec<ChannelId>) -> SourceRouting {
        let all = || (0..wiring.switches()).map(SwitchId);
        let paths =
            all().flat_map(|from| all().map(move |to| (from, to))).map(|(from, to)| path(from, to)).collect();
        SourceRouting {
            home: (0..wiring.hosts()).map(|h| wiring.home(EndNodeId(h))).collect(),
            switches: wiring.switches() as usize,
            beside: vec![Vec::new(); wiring.channels() as usize],
            paths,
        }
    }

    /// The same where a packet takes any cable between two switches that is free.
    pub fn any_cable(self, wiring: &Wiring) -> SourceRouting {
        let beside = |c: ChannelId| match wiring.from(c) {
            End::Switch(s) => wiring
                .leaving(s)
                .iter()
                .copied()
                .filter(|other| *other != c && wiring.to(*other) == wiring.to(c))
                .collect(),
            End::Host(_) => Vec::new(),
        };
        SourceRouting { beside: (0..wiring.channels()).map(|c| beside(ChannelId(c))).collect(), ..self }
    }
}

impl SourceRouting {
    pub fn of(network: &Network, routes: &SourceRoutes) -> SourceRouting {
        SourceRouting::new(&Wiring::of(network), |from, to| {
            routes.path(from, to).iter().map(|c| ChannelId(c.0)).collect()
        })
    }
}

impl Routing for SourceRouting {
    fn candidates(&self, _at: SwitchId, from: Lane, packet: &Packet, out: &mut Vec<Lane>) {
        let [source, destination] =
            [packet.source, packet.destination].map(|h| self.home[h.0 as usize].0 as usize);
        let path = &self.paths[source * self.switches + destination];
        // A path is short and passes no channel twice.
        let place = path
            .iter()
            .position(|c| *c == from.channel || self.beside[c.0 as usize].contains(&from.channel))
            .map_or(0, |p| p + 1);
        let next = path.get(place);
        out.extend(
            next.into_iter()
                .chain(next.into_iter().flat_map(|c| &self.beside[c.0 as usize]))
                .map(|channel| Lane { channel: *channel, lane: from.lane }),
        );
    }
}

/// Any minimal channel on an adaptive lane (1 and up) that is free, else the table's channel on the
/// escape lane, 0 (Bermúdez et al., CANPC 2000, section 2.1; Duato 1993).
#[derive(Clone, Debug)]
pub struct EscapeRouting {
    lanes: u8,
    /// Under wormhole switching a packet that has escaped must not come back.
    stays: bool,
    home: Vec<SwitchId>,
    hosts_begin: u32,
    switches: usize,
    /// `[at · switches + to]`
    minimal: Vec<Vec<ChannelId>>,
    escape: TableRouting,
}

impl EscapeRouting {
    /// `lanes` are at least 2. The escape table must be free of cycles for packets that enter it anywhere.
    pub fn new(wiring: &Wiring, escape: TableRouting, lanes: u8, switching: Switching) -> EscapeRouting {
        let distances = wiring.distances();
        let switches = wiring.switches();
        let nearer = |at: u32, to: u32| {
            let leads = |c: &&ChannelId| match wiring.to(**c) {
                End::Switch(next) => {
                    distances[next.0 as usize][to as usize] < distances[at as usize][to as usize]
                }
                End::Host(_) => false,
            };
            wiring.leaving(SwitchId(at)).iter().filter(leads).copied().collect()
        };
        EscapeRouting {
            lanes,
            stays: switching == Switching::Wormhole,
            home: (0..wiring.hosts()).map(|h| wiring.home(EndNodeId(h))).collect(),
            hosts_begin: 2 * wiring.links().len() as u32,
            switches: switches as usize,
            minimal: (0..switches)
                .flat_map(|at| (0..switches).map(move |to| (at, to)))
                .map(|(at, to)| nearer(at, to))
                .collect(),
            escape,
        }
    }
}

impl Routing for EscapeRouting {
    fn candidates(&self, at: SwitchId, from: Lane, packet: &Packet, out: &mut Vec<Lane>) {
        let escaped = from.lane == 0 && from.channel.0 < self.hosts_begin;
        if !(self.stays && escaped) {
            let to = self.home[packet.destination.0 as usize];
            let channels = &self.minimal[at.0 as usize * self.switches + to.0 as usize];
            out.extend(
                channels
                    .iter()
                    .flat_map(|channel| (1..self.lanes).map(|lane| Lane { channel: *channel, lane })),
            );
        }
        out.extend(self.escape.get(at, packet.destination.0).map(|l| Lane { lane: 0, ..l }));
    }
}

/// Any of the routing functions.
#[derive(Clone, Debug)]
pub enum Routes {
    Table(TableRouting),
    Source(SourceRouting),
    Escape(EscapeRouting),
}

impl Routing for Routes {
    fn candidates(&self, at: SwitchId, from: Lane, packet: &Packet, out: &mut Vec<Lane>) {
        match self {
            Routes::Table(r) => r.candidates(at, from, packet, out),
            Routes::Source(r) => r.candidates(at, from, packet, out),
            Routes::Escape(r) => r.candidates(at, from, packet, out),
        }
    }

    fn first_lanes(&self, packet: &Packet, lanes: u8, out: &mut Vec<u8>) {
        match self {
            Routes::Table(r) => r.first_lanes(packet, lanes, out),
            Routes::Source(r) => r.first_lanes(packet, lanes, out),
            Routes::Escape(r) => r.first_lanes(packet, lanes, out),
        }
    }
}
