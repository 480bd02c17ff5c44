//! Forwarding tables: at a switch, the destination alone says which port is next.

use crate::network::{Channel, EndNodeId, Network, Plugged, Port, SwitchId};

/// What has an address (LID): an end node, or a switch's management port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    EndNode(EndNodeId),
    Switch(SwitchId),
}

/// A linear forwarding table for every switch, and the lane that each destination's packets travel on.
///
/// A packet keeps its lane from end to end, and the lane depends on the destination alone, so that a
/// sender needs one service level per destination. An entry is a port of the switch; 0 means that the
/// switch itself is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    switches: usize,
    end_nodes: usize,
    lanes: u8,
    /// One destination after the other: that is how tables are computed and walked.
    ports: Vec<u8>,
    lane: Vec<u8>,
}

/// The entry of a destination that a switch knows no way to, as in the InfiniBand standard.
const NO_PATH: u8 = 255;

impl Table {
    /// A table without any entry; everything on lane 0.
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

    /// How many lanes there are, from 1.
    pub fn lanes(&self) -> u8 {
        self.lanes
    }

    /// The port by which a switch sends on what is for a destination.
    pub fn port(&self, at: SwitchId, to: Destination) -> Option<Port> {
        match self.ports[self.row(to) * self.switches + at.index()] {
            NO_PATH => None,
            port => Some(Port(port)),
        }
    }

    pub fn set(&mut self, at: SwitchId, to: Destination, port: Option<Port>) {
        let place = self.row(to) * self.switches + at.index();
        self.ports[place] = port.map_or(NO_PATH, |p| p.0);
    }

    /// The lane on which packets to a destination travel, from 0.
    pub fn lane(&self, to: Destination) -> u8 {
        self.lane[self.row(to)]
    }

    /// # Panics
    /// If there is no such lane.
    pub fn set_lane(&mut self, to: Destination, lane: u8) {
        assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        let row = self.row(to);
        self.lane[row] = lane;
    }

    /// All end nodes, then all switches.
    pub fn destinations(&self) -> impl Iterator<Item = Destination> + use<> {
        let end_nodes = (0..self.end_nodes as u32).map(|e| Destination::EndNode(EndNodeId(e)));
        end_nodes.chain((0..self.switches as u32).map(|s| Destination::Switch(SwitchId(s))))
    }

    /// The channel by which a switch sends on what is for a destination; `None` at the destination's own
    /// switch, and where the entry is missing or names a port without a cable to a switch.
    pub fn next(&self, network: &Network, at: SwitchId, to: Destination) -> Option<Channel> {
        match network.plugged(at, self.port(at, to)?) {
            Plugged::Channel(c) => Some(c),
            _ => None,
        }
    }

    /// The channels from a switch to a destination's switch; `None` if the table does not lead there.
    pub fn path(&self, network: &Network, from: SwitchId, to: Destination) -> Option<Vec<Channel>> {
        let end = home(network, to);
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

/// The switch where a destination is.
pub fn home(network: &Network, to: Destination) -> SwitchId {
    match to {
        Destination::EndNode(e) => network.end_node(e).switch,
        Destination::Switch(s) => s,
    }
}
