//! A network: switches with ports, end nodes, cables; each cable between switches is two channels.

/// A switch, numbered from 0 in the order of the file or generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub u32);

/// An end node: a port of a host channel adapter, which has an address (LID) of its own. An adapter
/// with two cabled ports is two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndNodeId(pub u32);

/// One direction of a cable between two switches. Cable n is the channels 2n and 2n + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(pub u32);

/// A port of a switch or adapter, from 1; 0 is a switch's own management port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u8);

impl SwitchId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EndNodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Channel {
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The other direction of the same cable.
    pub fn reverse(self) -> Channel {
        Channel(self.0 ^ 1)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// What people call it; unique only by custom.
    pub name: String,
    pub guid: u64,
    /// Ports 1 to this.
    pub ports: u8,
    /// Its address, if the file told one.
    pub lid: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndNode {
    pub name: String,
    /// Of the adapter.
    pub guid: u64,
    /// Of the adapter's port.
    pub port_guid: u64,
    /// The adapter's port.
    pub port: Port,
    /// How many ports the adapter has.
    pub ports: u8,
    pub switch: SwitchId,
    /// The switch's port.
    pub switch_port: Port,
    pub lid: Option<u16>,
}

/// What is plugged into a port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugged {
    Nothing,
    EndNode(EndNodeId),
    /// The channel that leaves by this port.
    Channel(Channel),
}

/// A network that does not change. Several cables between two switches are kept apart; both ends of
/// each are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    pub(super) switches: Vec<Switch>,
    pub(super) end_nodes: Vec<EndNode>,
    /// By channel.
    pub(super) from: Vec<SwitchId>,
    pub(super) out_port: Vec<Port>,
    /// Channels that leave each switch, by port, one switch after the other; `out_start` says where each
    /// begins.
    pub(super) out: Vec<Channel>,
    pub(super) out_start: Vec<u32>,
    pub(super) attached: Vec<EndNodeId>,
    pub(super) attached_start: Vec<u32>,
    pub(super) plugged: Vec<Plugged>,
    pub(super) plugged_start: Vec<u32>,
}

impl Network {
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    pub fn end_nodes(&self) -> &[EndNode] {
        &self.end_nodes
    }

    pub fn switch(&self, s: SwitchId) -> &Switch {
        &self.switches[s.index()]
    }

    pub fn end_node(&self, e: EndNodeId) -> &EndNode {
        &self.end_nodes[e.index()]
    }

    pub fn switch_ids(&self) -> impl DoubleEndedIterator<Item = SwitchId> + ExactSizeIterator + use<> {
        (0..self.switches.len() as u32).map(SwitchId)
    }

    pub fn end_node_ids(&self) -> impl DoubleEndedIterator<Item = EndNodeId> + ExactSizeIterator + use<> {
        (0..self.end_nodes.len() as u32).map(EndNodeId)
    }

    pub fn channel_ids(&self) -> impl DoubleEndedIterator<Item = Channel> + ExactSizeIterator + use<> {
        (0..self.from.len() as u32).map(Channel)
    }

    /// Twice the number of cables between switches.
    pub fn channels(&self) -> usize {
        self.from.len()
    }

    /// The switch that a channel leaves.
    pub fn from(&self, c: Channel) -> SwitchId {
        self.from[c.index()]
    }

    /// The switch that a channel leads to.
    pub fn to(&self, c: Channel) -> SwitchId {
        self.from[c.reverse().index()]
    }

    /// The port by which a channel leaves its switch.
    pub fn out_port(&self, c: Channel) -> Port {
        self.out_port[c.index()]
    }

    /// The port by which a channel enters the switch that it leads to.
    pub fn in_port(&self, c: Channel) -> Port {
        self.out_port[c.reverse().index()]
    }

    /// The channels that leave a switch, by port. Their reverses are those that enter it.
    pub fn leaving(&self, s: SwitchId) -> &[Channel] {
        &self.out[self.out_start[s.index()] as usize..self.out_start[s.index() + 1] as usize]
    }

    /// The end nodes at a switch, by port.
    pub fn attached(&self, s: SwitchId) -> &[EndNodeId] {
        &self.attached[self.attached_start[s.index()] as usize..self.attached_start[s.index() + 1] as usize]
    }

    /// What is plugged into a port; `Nothing` too where there is no such port, and for port 0.
    pub fn plugged(&self, s: SwitchId, port: Port) -> Plugged {
        match port.0 {
            0 => Plugged::Nothing,
            p if p > self.switches[s.index()].ports => Plugged::Nothing,
            p => self.plugged[self.plugged_start[s.index()] as usize + usize::from(p) - 1],
        }
    }

    /// Hops between a switch and all others, the other way round as well; `None` where there is no path.
    /// O(cables).
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

    /// Whether every switch can be reached from every other. A network without switches is connected.
    pub fn connected(&self) -> bool {
        self.switches.is_empty() || self.distances(SwitchId(0)).iter().all(Option::is_some)
    }

    /// The same network without some cables (of which either channel may be named) and switches (their end
    /// nodes and cables go with them). Switches, end nodes and channels are numbered anew, in the same
    /// order; names, GUIDs and ports stay.
    pub fn without(&self, cables: &[Channel], switches: &[SwitchId]) -> Network {
        let mut builder = super::NetworkBuilder::default();
        let mut renamed = vec![None; self.switches.len()];
        for s in self.switch_ids().filter(|s| !switches.contains(s)) {
            renamed[s.index()] = Some(builder.add(self.switch(s).clone()));
        }
        for e in &self.end_nodes {
            if let Some(switch) = renamed[e.switch.index()] {
                builder.attach(EndNode { switch, ..e.clone() });
            }
        }
        let gone: std::collections::HashSet<u32> = cables.iter().map(|c| c.0 / 2).collect();
        for c in self.channel_ids().step_by(2).filter(|c| !gone.contains(&(c.0 / 2))) {
            if let (Some(a), Some(b)) = (renamed[self.from(c).index()], renamed[self.to(c).index()]) {
                builder.connect((a, self.out_port(c)), (b, self.in_port(c)));
            }
        }
        builder.build().expect("a part of a right network is right")
    }
}
