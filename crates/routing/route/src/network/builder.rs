//! Builds a network from switches, end nodes and cables, and refuses cables that cannot be plugged in.

use super::ids::{Channel, EndNodeId, Port, SwitchId};
use super::topology::{Attachment, EndNode, Network, Switch};
use thiserror::Error;

/// Why a network cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// Two cables use one port.
    #[error("port {port} of switch `{switch}` has two cables; each port takes one")]
    PortTaken {
        /// Name of the switch.
        switch: String,
        /// The port.
        port: u8,
    },
    /// A cable uses a port that its switch does not have.
    #[error("switch `{switch}` has no port {port}; it has ports 1 to {ports}")]
    NoSuchPort {
        /// Name of the switch.
        switch: String,
        /// The port that it does not have.
        port: u8,
        /// Its last port.
        ports: u8,
    },
    /// Both ends of a cable use the same port.
    #[error("a cable joins port {port} of switch `{switch}` with itself")]
    Loop {
        /// Name of the switch.
        switch: String,
        /// The port.
        port: u8,
    },
}

/// A network under construction. Switches, end nodes and cables are numbered in the order in which they are
/// added.
#[derive(Clone, Debug, Default)]
pub struct NetworkBuilder {
    switches: Vec<Switch>,
    end_nodes: Vec<EndNode>,
    cables: Vec<[(SwitchId, Port); 2]>,
    /// By switch: the lowest port that [`NetworkBuilder::free_port`] has not assigned.
    next_port: Vec<u8>,
    guids_are_made_up: bool,
}

// The first GUIDs of generated switches and adapters. They are so far apart that the two ranges never meet.
const SWITCH_GUIDS: u64 = 0x0005_0000_0000_0000;
const ADAPTER_GUIDS: u64 = 0x0001_0000_0000_0000;

impl NetworkBuilder {
    /// Adds a switch.
    pub fn add(&mut self, switch: Switch) -> SwitchId {
        self.switches.push(switch);
        self.next_port.push(1);
        SwitchId(self.switches.len() as u32 - 1)
    }

    /// Adds a switch with a GUID made from its number.
    pub fn add_switch(&mut self, name: impl Into<String>, ports: u8) -> SwitchId {
        let guid = SWITCH_GUIDS + self.switches.len() as u64;
        self.set_guids_made_up();
        self.add(Switch { name: name.into(), guid, ports, lid: None })
    }

    /// Notes that some GUIDs are numbers in the order of the description, not the machines' own.
    pub fn set_guids_made_up(&mut self) {
        self.guids_are_made_up = true;
    }

    /// Adds an end node.
    pub fn attach(&mut self, end_node: EndNode) -> EndNodeId {
        self.end_nodes.push(end_node);
        EndNodeId(self.end_nodes.len() as u32 - 1)
    }

    /// Adds an adapter with one port at the next free port of a switch. Its GUIDs are made from its number.
    pub fn add_end_node(&mut self, name: impl Into<String>, switch: SwitchId) -> EndNodeId {
        let guid = ADAPTER_GUIDS + 2 * self.end_nodes.len() as u64;
        self.set_guids_made_up();
        let switch_port = self.free_port(switch);
        self.attach(EndNode {
            name: name.into(),
            guid,
            port_guid: guid + 1,
            port: Port(1),
            ports: 1,
            switch,
            switch_port,
            lid: None,
        })
    }

    /// Adds a cable between two ports of switches.
    pub fn connect(&mut self, a: (SwitchId, Port), b: (SwitchId, Port)) {
        self.cables.push([a, b]);
    }

    /// Adds a cable between the next free ports of two switches.
    pub fn join(&mut self, a: SwitchId, b: SwitchId) {
        let ends = (self.free_port(a), self.free_port(b));
        self.connect((a, ends.0), (b, ends.1));
    }

    /// The lowest port of a switch that this function has not assigned yet. Ports beyond 255 are given as
    /// 255, which [`NetworkBuilder::build`] refuses.
    fn free_port(&mut self, s: SwitchId) -> Port {
        let next = &mut self.next_port[s.index()];
        let port = Port(*next);
        *next = next.saturating_add(1);
        port
    }

    /// The network.
    ///
    /// # Errors
    /// A cable uses a port that its switch does not have or that has another cable, or joins a port with
    /// itself.
    pub fn build(self) -> Result<Network, NetworkError> {
        let mut ports = Ports::new(&self.switches);
        for (e, end_node) in self.end_nodes.iter().enumerate() {
            ports.attach(end_node.switch, end_node.switch_port, Attachment::EndNode(EndNodeId(e as u32)))?;
        }
        let (mut from, mut out_port) = (Vec::new(), Vec::new());
        for [a, b] in &self.cables {
            if a == b {
                let switch = self.switches[a.0.index()].name.clone();
                return Err(NetworkError::Loop { switch, port: a.1.0 });
            }
            for (s, port) in [*a, *b] {
                ports.attach(s, port, Attachment::Channel(Channel(from.len() as u32)))?;
                from.push(s);
                out_port.push(port);
            }
        }
        let Ports { attachments, start: attachments_start, .. } = ports;
        let (mut out, mut out_start) = (Vec::new(), vec![0]);
        let (mut attached, mut attached_start) = (Vec::new(), vec![0]);
        for range in attachments_start.windows(2) {
            for attachment in &attachments[range[0] as usize..range[1] as usize] {
                match attachment {
                    Attachment::Channel(c) => out.push(*c),
                    Attachment::EndNode(e) => attached.push(*e),
                    Attachment::Nothing => {}
                }
            }
            out_start.push(out.len() as u32);
            attached_start.push(attached.len() as u32);
        }
        let NetworkBuilder { switches, end_nodes, guids_are_made_up, .. } = self;
        Ok(Network {
            switches,
            end_nodes,
            from,
            out_port,
            out,
            out_start,
            attached,
            attached_start,
            attachments,
            attachments_start,
            guids_are_made_up,
        })
    }
}

/// The ports of all switches, one switch after the other, and what has been attached to them so far.
struct Ports<'a> {
    switches: &'a [Switch],
    attachments: Vec<Attachment>,
    /// By switch: the index of its port 1.
    start: Vec<u32>,
}

impl Ports<'_> {
    fn new(switches: &[Switch]) -> Ports<'_> {
        let mut start = vec![0_u32];
        for switch in switches {
            start.push(start[start.len() - 1] + u32::from(switch.ports));
        }
        let attachments = vec![Attachment::Nothing; start[switches.len()] as usize];
        Ports { switches, attachments, start }
    }

    fn attach(&mut self, s: SwitchId, port: Port, what: Attachment) -> Result<(), NetworkError> {
        let switch = &self.switches[s.index()];
        let name = || switch.name.clone();
        if port.0 == 0 || port.0 > switch.ports {
            return Err(NetworkError::NoSuchPort { switch: name(), port: port.0, ports: switch.ports });
        }
        let attachment = &mut self.attachments[self.start[s.index()] as usize + usize::from(port.0) - 1];
        if *attachment != Attachment::Nothing {
            return Err(NetworkError::PortTaken { switch: name(), port: port.0 });
        }
        *attachment = what;
        Ok(())
    }
}
