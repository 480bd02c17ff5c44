//! Writes a network in this format.

use crate::network::{Attachment, EndNode, Network, Port, SwitchId};
use std::collections::HashMap;
use std::fmt::Write;

/// Writes a network as `ibnetdiscover` would print it and `ibsim` reads it.
///
/// Adapters come first, in the order of their first end node: without other instructions `ibsim` attaches a
/// subnet manager to the first one.
pub fn write(network: &Network) -> String {
    let mut out = String::new();
    for ports in adapters(network) {
        write_adapter(&mut out, network, &ports);
    }
    for s in network.switch_ids() {
        write_switch(&mut out, network, s);
    }
    out
}

/// The end nodes of each adapter.
fn adapters(network: &Network) -> Vec<Vec<&EndNode>> {
    let mut adapters: Vec<Vec<&EndNode>> = Vec::new();
    let mut by_guid: HashMap<u64, usize> = HashMap::new();
    for e in network.end_nodes() {
        let adapter = *by_guid.entry(e.guid).or_insert_with(|| {
            adapters.push(Vec::new());
            adapters.len() - 1
        });
        adapters[adapter].push(e);
    }
    adapters
}

fn write_adapter(out: &mut String, network: &Network, ports: &[&EndNode]) {
    let EndNode { guid, name, ports: port_count, .. } = ports[0];
    writeln!(out, "caguid=0x{guid:x}").expect("memory");
    writeln!(out, "Ca\t{port_count} \"H-{guid:016x}\"\t\t# \"{name}\"").expect("memory");
    for e in ports {
        let switch = network.switch(e.switch);
        let (id, lid, switch_lid) =
            (switch_id(network, e.switch), e.lid.unwrap_or(0), switch.lid.unwrap_or(0));
        let EndNode { port: Port(port), port_guid, switch_port: Port(to_port), .. } = e;
        writeln!(
            out,
            "[{port}]({port_guid:x})\t\"{id}\"[{to_port}]\t\t# lid {lid} lmc 0 \"{}\" lid {switch_lid}",
            switch.name
        )
        .expect("memory");
    }
    out.push('\n');
}

fn write_switch(out: &mut String, network: &Network, s: SwitchId) {
    let switch = network.switch(s);
    let (id, name, lid) = (switch_id(network, s), &switch.name, switch.lid.unwrap_or(0));
    writeln!(out, "switchguid=0x{0:x}({0:x})", switch.guid).expect("memory");
    writeln!(out, "Switch\t{} \"{id}\"\t\t# \"{name}\" base port 0 lid {lid} lmc 0", switch.ports)
        .expect("memory");
    for port in (1..=switch.ports).map(Port) {
        match network.attachment(s, port) {
            Attachment::Nothing => {}
            Attachment::EndNode(e) => {
                let EndNode { name, guid, port: Port(to_port), port_guid, lid, .. } = network.end_node(e);
                let lid = lid.unwrap_or(0);
                writeln!(
                    out,
                    "[{}]\t\"H-{guid:016x}\"[{to_port}]({port_guid:x})\t\t# \"{name}\" lid {lid}",
                    port.0
                )
                .expect("memory");
            }
            Attachment::Channel(c) => {
                let to = network.switch(network.to(c));
                let (id, Port(to_port)) = (switch_id(network, network.to(c)), network.in_port(c));
                let (name, lid) = (&to.name, to.lid.unwrap_or(0));
                writeln!(out, "[{}]\t\"{id}\"[{to_port}]\t\t# \"{name}\" lid {lid}", port.0).expect("memory");
            }
        }
    }
    out.push('\n');
}

fn switch_id(network: &Network, s: SwitchId) -> String {
    format!("S-{:016x}", network.switch(s).guid)
}
