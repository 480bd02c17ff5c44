//! Routing by forwarding tables.

use super::function::{Routing, VirtualLane};
use crate::packet::Packet;
use crate::wiring::ChannelId;
use evenkeel_route::{Destination, Network, SwitchId, Table};

/// Routing by forwarding tables: one channel for each switch and destination.
#[derive(Clone, Debug)]
pub struct TableRouting {
    hosts: usize,
    /// By switch and destination, at `switch · hosts + destination`.
    next: Vec<Option<VirtualLane>>,
    /// By destination: the lane in which packets start.
    first: Vec<u8>,
}

impl TableRouting {
    /// A table without entries. All packets start in lane 0.
    pub fn new(switches: u32, hosts: u32) -> TableRouting {
        let (switches, hosts) = (switches as usize, hosts as usize);
        TableRouting { hosts, next: vec![None; switches * hosts], first: vec![0; hosts] }
    }

    /// The entries of a table for end nodes.
    pub fn of(network: &Network, table: &Table) -> TableRouting {
        let mut routing =
            TableRouting::new(network.switches().len() as u32, network.end_nodes().len() as u32);
        for e in network.end_node_ids() {
            let to = Destination::EndNode(e);
            let lane = table.lane(to);
            routing.set_first_lane(e.0, lane);
            for at in network.switch_ids() {
                if let Some(channel) = table.next(network, at, to) {
                    routing.set(at, e.0, VirtualLane { channel: ChannelId(channel.0), lane });
                }
            }
        }
        routing
    }

    /// Sets the lane by which packets leave a switch for a destination.
    pub fn set(&mut self, at: SwitchId, destination: u32, to: VirtualLane) {
        self.next[at.0 as usize * self.hosts + destination as usize] = Some(to);
    }

    /// The lane by which packets leave a switch for a destination.
    pub fn get(&self, at: SwitchId, destination: u32) -> Option<VirtualLane> {
        self.next[at.0 as usize * self.hosts + destination as usize]
    }

    /// Sets the lane in which packets to a destination start.
    pub fn set_first_lane(&mut self, destination: u32, lane: u8) {
        self.first[destination as usize] = lane;
    }
}

impl Routing for TableRouting {
    fn candidates(&self, at: SwitchId, _from: VirtualLane, packet: &Packet, out: &mut Vec<VirtualLane>) {
        out.extend(self.get(at, packet.destination.0));
    }

    fn first_lanes(&self, packet: &Packet, _lanes: u8, out: &mut Vec<u8>) {
        out.push(self.first[packet.destination.0 as usize]);
    }
}
