//! Forwarding tables: at each switch, the destination of a packet alone determines the next port.

use crate::network::{Attachment, Channel, EndNodeId, Network, Port, SwitchId};

/// A destination of packets, with an address (LID) of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// An end node.
    EndNode(EndNodeId),
    /// The management port of a switch.
    Switch(SwitchId),
}

impl Destination {
    /// The switch to which the destination is attached, or which it is.
    pub fn switch(self, network: &Network) -> SwitchId {
        match self {
            Destination::EndNode(e) => network.end_node(e).switch,
            Destination::Switch(s) => s,
        }
    }
}

/// A linear forwarding table for every switch, and the virtual lane of each destination's packets.
///
/// A packet stays on one virtual lane from end to end. The lane depends on the destination alone, so that a
/// sender needs one service level per destination. An entry is a port of the switch; port 0 is the switch
/// itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    switches: usize,
    end_nodes: usize,
    lanes: u8,
    /// By destination and switch, one destination after the other: tables are computed and read in this
    /// order.
    ports: Vec<u8>,
    /// By destination.
    lane: Vec<u8>,
}

/// The entry for a destination to which a switch has no path, as in the InfiniBand standard.
const NO_PATH: u8 = 255;

impl Table {
    /// A table without entries. All destinations are on virtual lane 0.
    pub fn empty(network: &Network, lanes: u8) -> Table {
        let (switches, end_nodes) = (network.switches().len(), network.end_nodes().len());
        let destinations = switches + end_nodes;
        Table {
            switches,
            end_nodes,
            lanes: lanes.max(1),
            ports: vec![NO_PATH; destinations * switches],
            lane: vec![0; destinations],
        }
    }

    /// Number of virtual lanes, at least 1.
    pub fn lanes(&self) -> u8 {
        self.lanes
    }

    /// The port by which a switch forwards packets to a destination; `None` without an entry.
    pub fn port(&self, at: SwitchId, to: Destination) -> Option<Port> {
        match self.ports[self.row(to) * self.switches + at.index()] {
            NO_PATH => None,
            port => Some(Port(port)),
        }
    }

    /// Sets the entry of a switch for a destination.
    pub fn set(&mut self, at: SwitchId, to: Destination, port: Option<Port>) {
        let index = self.row(to) * self.switches + at.index();
        self.ports[index] = port.map_or(NO_PATH, |p| p.0);
    }

    /// The virtual lane of packets to a destination, from 0.
    pub fn lane(&self, to: Destination) -> u8 {
        self.lane[self.row(to)]
    }

    /// Sets the virtual lane of packets to a destination.
    ///
    /// # Panics
    /// If there is no such lane.
    pub fn set_lane(&mut self, to: Destination, lane: u8) {
        assert!(lane < self.lanes, "there is no lane {lane}, only {} lanes", self.lanes);
        let row = self.row(to);
        self.lane[row] = lane;
    }

    /// All end nodes, then all switches.
    pub fn destinations(&self) -> impl Iterator<Item = Destination> + use<> {
        let end_nodes = (0..self.end_nodes as u32).map(|e| Destination::EndNode(EndNodeId(e)));
        end_nodes.chain((0..self.switches as u32).map(|s| Destination::Switch(SwitchId(s))))
    }

    /// The channel by which a switch forwards packets to a destination.
    ///
    /// `None` at the destination's own switch, and if the entry is missing or names a port that has no cable
    /// to a switch.
    pub fn next(&self, network: &Network, at: SwitchId, to: Destination) -> Option<Channel> {
        match network.attachment(at, self.port(at, to)?) {
            Attachment::Channel(c) => Some(c),
            _ => None,
        }
    }

    /// The channels from a switch to the switch of a destination; `None` if the table does not lead there.
    pub fn path(&self, network: &Network, from: SwitchId, to: Destination) -> Option<Vec<Channel>> {
        let end = to.switch(network);
        let mut at = from;
        let mut path = Vec::new();
        while at != end {
            if path.len() > self.switches {
                return None;
            }
            let c = self.next(network, at, to)?;
            path.push(c);
            at = network.to(c);
        }
        Some(path)
    }

    fn row(&self, to: Destination) -> usize {
        match to {
            Destination::EndNode(e) => e.index(),
            Destination::Switch(s) => self.end_nodes + s.index(),
        }
    }
}
