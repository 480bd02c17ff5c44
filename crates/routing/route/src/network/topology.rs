//! The network as a value: who is attached to which port, and where channels lead.

use super::ids::{Channel, EndNodeId, Port, SwitchId};

/// A switch of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// What people call it. Names need not be unique.
    pub name: String,
    /// Globally unique identifier.
    pub guid: u64,
    /// The number of its last port; the first is 1.
    pub ports: u8,
    /// Its address, if the file had one.
    pub lid: Option<u16>,
}

/// An end node of a network: a port of an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndNode {
    /// What people call the adapter.
    pub name: String,
    /// Globally unique identifier of the adapter.
    pub guid: u64,
    /// Globally unique identifier of the adapter's port.
    pub port_guid: u64,
    /// The adapter's port.
    pub port: Port,
    /// How many ports the adapter has.
    pub ports: u8,
    /// The switch to which it is attached.
    pub switch: SwitchId,
    /// The port of that switch.
    pub switch_port: Port,
    /// Its address, if the file had one.
    pub lid: Option<u16>,
}

/// What is attached to a port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// No cable.
    Nothing,
    /// A cable to an end node.
    EndNode(EndNodeId),
    /// A cable to another switch: the channel that leaves by this port.
    Channel(Channel),
}

/// A network that does not change. It knows each of several parallel cables, and the ports at both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    pub(super) switches: Vec<Switch>,
    pub(super) end_nodes: Vec<EndNode>,
    /// By channel: the switch that it leaves, and by which port.
    pub(super) from: Vec<SwitchId>,
    pub(super) out_port: Vec<Port>,
    /// The channels that leave each switch, by port, one switch after the other. Those of switch s are
    /// `out[out_start[s]..out_start[s + 1]]`; `attached` and `attachments` are laid out alike.
    pub(super) out: Vec<Channel>,
    pub(super) out_start: Vec<u32>,
    pub(super) attached: Vec<EndNodeId>,
    pub(super) attached_start: Vec<u32>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) attachments_start: Vec<u32>,
    pub(super) guids_are_made_up: bool,
}

impl Network {
    /// Whether some GUIDs are not the machines' own, but were made from the order in which the description
    /// names them. Such GUIDs do not tell which switch of one network is which of another.
    pub fn guids_are_made_up(&self) -> bool {
        self.guids_are_made_up
    }

    /// All switches, by number.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// All end nodes, by number.
    pub fn end_nodes(&self) -> &[EndNode] {
        &self.end_nodes
    }

    /// A switch.
    pub fn switch(&self, s: SwitchId) -> &Switch {
        &self.switches[s.index()]
    }

    /// An end node.
    pub fn end_node(&self, e: EndNodeId) -> &EndNode {
        &self.end_nodes[e.index()]
    }

    /// The numbers of all switches, ascending.
    pub fn switch_ids(&self) -> impl DoubleEndedIterator<Item = SwitchId> + ExactSizeIterator + use<> {
        (0..self.switches.len() as u32).map(SwitchId)
    }

    /// The numbers of all end nodes, ascending.
    pub fn end_node_ids(&self) -> impl DoubleEndedIterator<Item = EndNodeId> + ExactSizeIterator + use<> {
        (0..self.end_nodes.len() as u32).map(EndNodeId)
    }

    /// The numbers of all channels, ascending.
    pub fn channel_ids(&self) -> impl DoubleEndedIterator<Item = Channel> + ExactSizeIterator + use<> {
        (0..self.from.len() as u32).map(Channel)
    }

    /// Number of channels: twice the number of cables between switches.
    pub fn channels(&self) -> usize {
        self.from.len()
    }

    /// The switch that a channel leaves.
    pub fn from(&self, c: Channel) -> SwitchId {
        self.from[c.index()]
    }

    /// The switch that a channel enters.
    pub fn to(&self, c: Channel) -> SwitchId {
        self.from[c.reverse().index()]
    }

    /// The port by which a channel leaves its switch.
    pub fn out_port(&self, c: Channel) -> Port {
        self.out_port[c.index()]
    }

    /// The port by which a channel enters its switch.
    pub fn in_port(&self, c: Channel) -> Port {
        self.out_port[c.reverse().index()]
    }

    /// The channels that leave a switch, by port. Their reverses are the channels that enter it.
    pub fn leaving(&self, s: SwitchId) -> &[Channel] {
        &self.out[self.out_start[s.index()] as usize..self.out_start[s.index() + 1] as usize]
    }

    /// The end nodes at a switch, by port.
    pub fn end_nodes_at(&self, s: SwitchId) -> &[EndNodeId] {
        &self.attached[self.attached_start[s.index()] as usize..self.attached_start[s.index() + 1] as usize]
    }

    /// What is attached to a port; `Nothing` also for port 0 and for ports that the switch does not have.
    pub fn attachment(&self, s: SwitchId, port: Port) -> Attachment {
        match port.0 {
            0 => Attachment::Nothing,
            p if p > self.switches[s.index()].ports => Attachment::Nothing,
            p => self.attachments[self.attachments_start[s.index()] as usize + usize::from(p) - 1],
        }
    }

    /// Hops from a switch to every other, and equally back; `None` if there is no path. O(cables).
    pub fn distances(&self, s: SwitchId) -> Vec<Option<u32>> {
        let mut distance = vec![None; self.switches.len()];
        distance[s.index()] = Some(0);
        let mut queue = vec![s];
        let mut next = 0;
        while let Some(at) = queue.get(next).copied() {
            next += 1;
            for c in self.leaving(at) {
                let to = self.to(*c);
                if distance[to.index()].is_none() {
                    distance[to.index()] = distance[at.index()].map(|d: u32| d + 1);
                    queue.push(to);
                }
            }
        }
        distance
    }

    /// Whether every switch can reach every other. A network without switches is connected.
    pub fn is_connected(&self) -> bool {
        self.switches.is_empty() || self.distances(SwitchId(0)).iter().all(Option::is_some)
    }
}
