//! Puts a network together and refuses what cannot be plugged.

use super::topology::{Channel, EndNode, EndNodeId, Network, Plugged, Port, Switch, SwitchId};
use thiserror::Error;

/// Why a network cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkError {
    #[error("port {port} of switch `{switch}` has two cables; each port takes one")]
    PortTaken { switch: String, port: u8 },
    #[error("switch `{switch}` has no port {port}; it has ports 1 to {ports}")]
    NoSuchPort { switch: String, port: u8, ports: u8 },
    #[error("a cable joins port {port} of switch `{switch}` with itself")]
    Loop { switch: String, port: u8 },
}

/// A network being put together. The order of calls numbers switches, end nodes and cables.
#[derive(Clone, Debug, Default)]
pub struct NetworkBuilder {
    switches: Vec<Switch>,
    end_nodes: Vec<EndNode>,
    cables: Vec<[(SwitchId, Port); 2]>,
    /// The lowest port of each switch that [`NetworkBuilder::free_port`] has not given away.
    next_port: Vec<u8>,
}

// GUIDs of generated nodes. Far apart, so that no network is large enough to mix them.
const SWITCH_GUIDS: u64 = 0x0005_0000_0000_0000;
const ADAPTER_GUIDS: u64 = 0x0001_0000_0000_0000;

impl NetworkBuilder {
    /// Adds a switch as it is.
    pub fn add(&mut self, switch: Switch) -> SwitchId {
        self.switches.push(switch);
        self.next_port.push(1);
        SwitchId(self.switches.len() as u32 - 1)
    }

    /// Adds a switch with a GUID made from its number.
    pub fn add_switch(&mut self, name: impl Into<String>, ports: u8) -> SwitchId {
        let guid = SWITCH_GUIDS + self.switches.len() as u64;
        self.add(Switch { name: name.into(), guid, ports, lid: None })
    }

    /// Adds an end node as it is.
    pub fn attach(&mut self, end_node: EndNode) -> EndNodeId {
        self.end_nodes.push(end_node);
        EndNodeId(self.end_nodes.len() as u32 - 1)
    }

    /// Adds an adapter with one port at the next free port of a switch, with GUIDs made from its number.
    pub fn add_end_node(&mut self, name: impl Into<String>, switch: SwitchId) -> EndNodeId {
        let guid = ADAPTER_GUIDS + 2 * self.end_nodes.len() as u64;
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

    /// Joins two ports of switches.
    pub fn connect(&mut self, a: (SwitchId, Port), b: (SwitchId, Port)) {
        self.cables.push([a, b]);
    }

    /// Joins the next free ports of two switches.
    pub fn join(&mut self, a: SwitchId, b: SwitchId) {
        let ends = (self.free_port(a), self.free_port(b));
        self.connect((a, ends.0), (b, ends.1));
    }

    /// The lowest port of a switch that this has not given away yet. Ports beyond 255 come out as 255 and
    /// are refused at the end.
    fn free_port(&mut self, s: SwitchId) -> Port {
        let next = &mut self.next_port[s.index()];
        let port = Port(*next);
        *next = next.saturating_add(1);
        port
    }

    /// The network.
    ///
    /// # Errors
    /// A port that a switch does not have, or that has two cables.
    pub fn build(self) -> Result<Network, NetworkError> {
        let count = self.switches.len();
        let mut plugged_start = vec![0_u32; count + 1];
        for (s, switch) in self.switches.iter().enumerate() {
            plugged_start[s + 1] = plugged_start[s] + u32::from(switch.ports);
        }
        let mut plugged = vec![Plugged::Nothing; plugged_start[count] as usize];
        let mut plug = |s: SwitchId, port: Port, what: Plugged| {
            let switch = &self.switches[s.index()];
            if port.0 == 0 || port.0 > switch.ports {
                return Err(NetworkError::NoSuchPort {
                    switch: switch.name.clone(),
                    port: port.0,
                    ports: switch.ports,
                });
            }
            let place = &mut plugged[plugged_start[s.index()] as usize + usize::from(port.0) - 1];
            if *place != Plugged::Nothing {
                return Err(NetworkError::PortTaken { switch: switch.name.clone(), port: port.0 });
            }
            *place = what;
            Ok(())
        };
        for (e, end_node) in self.end_nodes.iter().enumerate() {
            plug(end_node.switch, end_node.switch_port, Plugged::EndNode(EndNodeId(e as u32)))?;
        }
        let mut from = Vec::new();
        let mut out_port = Vec::new();
        for [a, b] in &self.cables {
            if a == b {
                return Err(NetworkError::Loop {
                    switch: self.switches[a.0.index()].name.clone(),
                    port: a.1.0,
                });
            }
            for (s, port) in [*a, *b] {
                plug(s, port, Plugged::Channel(Channel(from.len() as u32)))?;
                from.push(s);
                out_port.push(port);
            }
        }
        let (mut out, mut out_start, mut attached, mut attached_start) =
            (Vec::new(), vec![0], Vec::new(), vec![0]);
        for s in 0..count {
            for what in &plugged[plugged_start[s] as usize..plugged_start[s + 1] as usize] {
                match what {
                    Plugged::Channel(c) => out.push(*c),
                    Plugged::EndNode(e) => attached.push(*e),
                    Plugged::Nothing => {}
                }
            }
            out_start.push(out.len() as u32);
            attached_start.push(attached.len() as u32);
        }
        let NetworkBuilder { switches, end_nodes, .. } = self;
        Ok(Network {
            switches,
            end_nodes,
            from,
            out_port,
            out,
            out_start,
            attached,
            attached_start,
            plugged,
            plugged_start,
        })
    }
}
