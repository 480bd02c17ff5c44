//! Builds a network from the records of a file, and checks that they agree.

use super::super::error::{FormatError, at_line};
use super::parse::{NodeRecord, records};
use crate::network::{EndNode, Network, NetworkBuilder, Port, Switch, SwitchId};
use std::collections::HashMap;

/// The first GUIDs that `ibsim` assigns where a file has none.
const IBSIM_ADAPTERS: u64 = 0x10_0000;
const IBSIM_SWITCHES: u64 = 0x20_0000;

/// A port of a node: the index of its record, and the number of the port.
type NodePort = (usize, u8);

/// Both ends of every cable: for each port, the port at the other end and the line that says so.
type Cables = HashMap<NodePort, (NodePort, usize)>;

/// Reads a network: its switches, and the ports of adapters (and routers) that are attached to a switch.
///
/// Ports without a cable and adapters without a cable are left out.
///
/// # Errors
/// A line cannot be read, a cable leads to a node that is not in the file or is described differently at
/// its two ends, or joins two adapters without a switch.
pub fn read(text: &str) -> Result<Network, FormatError> {
    let records = records(text)?;
    let cables = cables(&records)?;
    let mut builder = NetworkBuilder::default();
    let switches = add_switches(&records, &mut builder);
    if switches.is_empty() {
        return Err(FormatError::NoSwitch);
    }
    let mut next_guid = IBSIM_ADAPTERS;
    for (i, record) in records.iter().enumerate() {
        if record.is_switch {
            connect(i, record, &cables, &switches, &mut builder);
        } else {
            let guid = own_guid(record, &mut builder).unwrap_or(next_guid);
            next_guid += u64::from(record.ports) + 1;
            for end_node in ports_of_adapter(i, guid, &records, &cables, &switches)? {
                builder.attach(end_node);
            }
        }
    }
    // The builder checks the ports of switches, but does not know those of adapters.
    let adapters = records.iter().filter(|r| !r.is_switch);
    let beyond_last = adapters.flat_map(|r| r.cables.iter().filter(move |cable| cable.port > r.ports)).next();
    if let Some(cable) = beyond_last {
        let why = format!("the adapter of this cable has no port {}", cable.port);
        return Err(at_line(cable.line, why));
    }
    Ok(builder.build()?)
}

/// The cables of all records. It is enough if one end of a cable has a line, as `ibsim` writes it.
fn cables(records: &[NodeRecord]) -> Result<Cables, FormatError> {
    let mut by_id = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        if by_id.insert(record.id, i).is_some() {
            return Err(at_line(record.line, format!("a second node `{}`", record.id)));
        }
    }
    let mut cables = Cables::new();
    for (i, record) in records.iter().enumerate() {
        for cable in &record.cables {
            let Some(to) = by_id.get(cable.to).copied() else {
                let why = format!("a cable to `{}`, which is not in the file", cable.to);
                return Err(at_line(cable.line, why));
            };
            let ends = [(i, cable.port), (to, cable.to_port)];
            for (a, b) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                let (other, line) = *cables.entry(a).or_insert((b, cable.line));
                if other != b {
                    let why = format!(
                        "port {} of `{}` has a cable to `{}` here and another in line {line}",
                        a.1, records[a.0].id, records[b.0].id
                    );
                    return Err(at_line(cable.line, why));
                }
            }
        }
    }
    Ok(cables)
}

/// Adds the switches. Returns their numbers by the index of their record.
fn add_switches(records: &[NodeRecord], builder: &mut NetworkBuilder) -> HashMap<usize, SwitchId> {
    let mut switches = HashMap::new();
    let numbered = records.iter().enumerate().filter(|(_, record)| record.is_switch);
    for ((i, record), next_guid) in numbered.zip(IBSIM_SWITCHES..) {
        let guid = own_guid(record, builder).unwrap_or(next_guid);
        let switch = Switch { name: record.name.into(), guid, ports: record.ports, lid: record.lid };
        switches.insert(i, builder.add(switch));
    }
    switches
}

/// Adds the cables from a switch to other switches. Each cable is added once, at the end that comes first.
fn connect(
    i: usize,
    record: &NodeRecord,
    cables: &Cables,
    switches: &HashMap<usize, SwitchId>,
    builder: &mut NetworkBuilder,
) {
    for port in 1..=record.ports {
        let Some(((to, to_port), _)) = cables.get(&(i, port)) else { continue };
        let Some(other) = switches.get(to) else { continue };
        if (i, port) < (*to, *to_port) {
            builder.connect((switches[&i], Port(port)), (*other, Port(*to_port)));
        }
    }
}

/// The ports of an adapter that have a cable, as end nodes.
fn ports_of_adapter(
    i: usize,
    guid: u64,
    records: &[NodeRecord],
    cables: &Cables,
    switches: &HashMap<usize, SwitchId>,
) -> Result<Vec<EndNode>, FormatError> {
    let record = &records[i];
    let mut end_nodes = Vec::new();
    for port in 1..=record.ports {
        let Some(((to, to_port), line)) = cables.get(&(i, port)) else { continue };
        let Some(switch) = switches.get(to).copied() else {
            let other = records[*to].id;
            let why = format!("`{}` is joined with `{other}` without a switch between them", record.id);
            return Err(at_line(*line, why));
        };
        let own_line = record.cables.iter().find(|cable| cable.port == port);
        end_nodes.push(EndNode {
            name: record.name.into(),
            guid,
            port_guid: own_line.and_then(|cable| cable.port_guid).unwrap_or(guid + u64::from(port)),
            port: Port(port),
            ports: record.ports,
            switch,
            switch_port: Port(*to_port),
            lid: own_line.and_then(|cable| cable.lid),
        });
    }
    Ok(end_nodes)
}

/// The GUID that the file gives a node. If it gives none, the builder is told.
fn own_guid(record: &NodeRecord, builder: &mut NetworkBuilder) -> Option<u64> {
    let own = record.guid.or_else(|| guid_of_id(record.id));
    if own.is_none() {
        builder.set_guids_made_up();
    }
    own
}

/// The GUID in an ID such as `S-0005…` or `H-0001…`, as `ibnetdiscover` makes them.
fn guid_of_id(id: &str) -> Option<u64> {
    let digits = id.strip_prefix("S-").or_else(|| id.strip_prefix("H-")).or_else(|| id.strip_prefix("R-"))?;
    (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}
