//! Networks as `ibnetdiscover` prints them; `ibsim` reads the same, and a simpler form without GUIDs.

use super::{FormatError, at_line};
use crate::network::{EndNode, Network, NetworkBuilder, Port, Switch, SwitchId};
use std::collections::HashMap;

/// Words that a node's description begins with.
pub(super) const KINDS: [&str; 4] = ["Switch", "Ca", "Hca", "Rt"];

/// What `ibsim` numbers from where a file gives no GUIDs.
const IBSIM_ADAPTERS: u64 = 0x10_0000;
const IBSIM_SWITCHES: u64 = 0x20_0000;

struct Record<'a> {
    line: usize,
    switch: bool,
    id: &'a str,
    guid: Option<u64>,
    ports: u8,
    name: &'a str,
    lid: Option<u16>,
    links: Vec<Link<'a>>,
}

struct Link<'a> {
    line: usize,
    port: u8,
    port_guid: Option<u64>,
    to: &'a str,
    to_port: u8,
    lid: Option<u16>,
}

/// The network: switches and the ports of adapters (and routers) that are plugged into one. Ports that
/// lead nowhere and adapters without a cable are left out.
///
/// # Errors
/// Lines that cannot be read, cables to nodes that are not there or that the other end contradicts, two
/// adapters joined without a switch.
pub fn read(text: &str) -> Result<Network, FormatError> {
    let records = records(text)?;
    let mut by_id = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        if by_id.insert(record.id, i).is_some() {
            return Err(at_line(record.line, format!("a second node `{}`", record.id)));
        }
    }
    // Every end of every cable, from both ends' lines; `ibsim` is content with one of them.
    let mut ends: HashMap<(usize, u8), (usize, u8, usize)> = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        for link in &record.links {
            let Some(to) = by_id.get(link.to).copied() else {
                return Err(at_line(link.line, format!("a cable to `{}`, which is not there", link.to)));
            };
            for (a, b) in [((i, link.port), (to, link.to_port)), ((to, link.to_port), (i, link.port))] {
                let other = ends.entry(a).or_insert((b.0, b.1, link.line));
                if (other.0, other.1) != b {
                    let why = format!(
                        "port {} of `{}` has a cable to `{}` here and another in line {}",
                        a.1, records[a.0].id, records[b.0].id, other.2
                    );
                    return Err(at_line(link.line, why));
                }
            }
        }
    }
    let mut builder = NetworkBuilder::default();
    let mut switches = HashMap::new();
    let (mut next_switch, mut next_adapter) = (IBSIM_SWITCHES, IBSIM_ADAPTERS);
    for (i, record) in records.iter().enumerate().filter(|(_, r)| r.switch) {
        let guid = record.guid.or_else(|| guid_of_id(record.id)).unwrap_or(next_switch);
        next_switch += 1;
        switches.insert(
            i,
            builder.add(Switch { name: record.name.into(), guid, ports: record.ports, lid: record.lid }),
        );
    }
    if switches.is_empty() {
        return Err(FormatError::NoSwitch);
    }
    for (i, record) in records.iter().enumerate() {
        if record.switch {
            for port in 1..=record.ports {
                if let Some((to, to_port, _)) = ends.get(&(i, port))
                    && let Some(other) = switches.get(to)
                    && (i, port) < (*to, *to_port)
                {
                    builder.connect((switches[&i], Port(port)), (*other, Port(*to_port)));
                }
            }
            continue;
        }
        let guid = record.guid.or_else(|| guid_of_id(record.id)).unwrap_or(next_adapter);
        next_adapter += u64::from(record.ports) + 1;
        for port in 1..=record.ports {
            let Some((to, to_port, line)) = ends.get(&(i, port)) else { continue };
            let Some(switch) = switches.get(to).copied() else {
                return Err(at_line(
                    *line,
                    format!(
                        "`{}` is joined with `{}` without a switch between them",
                        record.id, records[*to].id
                    ),
                ));
            };
            let own = record.links.iter().find(|l| l.port == port);
            let port_guid = own.and_then(|l| l.port_guid).unwrap_or(guid + u64::from(port));
            let lid = own.and_then(|l| l.lid);
            let name = record.name.into();
            builder.attach(EndNode {
                name,
                guid,
                port_guid,
                port: Port(port),
                ports: record.ports,
                switch,
                switch_port: Port(*to_port),
                lid,
            });
        }
    }
    // Ports beyond a node's last are found by the builder for switches; for adapters here.
    if let Some(link) = records
        .iter()
        .filter(|r| !r.switch)
        .flat_map(|r| r.links.iter().filter(move |l| l.port > r.ports))
        .next()
    {
        return Err(at_line(link.line, format!("an adapter's port {}, which it does not have", link.port)));
    }
    Ok(builder.build()?)
}

fn records(text: &str) -> Result<Vec<Record<'_>>, FormatError> {
    let mut records: Vec<Record> = Vec::new();
    let mut guid = None;
    let mut open = false;
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        if line.starts_with('#') {
            continue;
        }
        if let Some((key, value)) =
            line.split_once('=').filter(|(key, _)| key.ends_with("guid") || key.ends_with("guids"))
        {
            if matches!(key, "switchguid" | "caguid" | "hcaguid" | "hcaguids" | "rtguid") {
                let digits = value.trim().trim_start_matches("0x");
                let digits = &digits[..digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len())];
                guid = Some(
                    u64::from_str_radix(digits, 16)
                        .map_err(|_| at_line(number, format!("`{value}` is no GUID")))?,
                );
            }
        } else if line.starts_with('[') {
            let record = records
                .last_mut()
                .filter(|_| open)
                .ok_or_else(|| at_line(number, "a port that belongs to no node"))?;
            record.links.push(link(number, line)?);
        } else if let Some(kind) = KINDS
            .iter()
            .find(|kind| line.strip_prefix(**kind).is_some_and(|rest| rest.starts_with([' ', '\t'])))
        {
            let unread = || at_line(number, format!("a node is `{kind} PORTS \"ID\"`, and this is not"));
            let rest = line[kind.len()..].trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(unread)?;
            let ports: u8 = rest[..end].parse().map_err(|_| unread())?;
            let (id, rest) = quoted(rest).ok_or_else(unread)?;
            let comment = rest.split_once('#').map_or("", |(_, c)| c);
            let name = quoted(comment).map_or(id, |(name, _)| name);
            let lid = lid(comment);
            records.push(Record {
                line: number,
                switch: *kind == "Switch",
                id,
                guid: guid.take(),
                ports,
                name,
                lid,
                links: Vec::new(),
            });
            open = true;
        } else if line.trim().is_empty() {
            open = false;
        }
    }
    Ok(records)
}

/// `[port](guid) "id"[port](guid) # comment`
fn link(number: usize, line: &str) -> Result<Link<'_>, FormatError> {
    let unread = || at_line(number, "a cable is `[PORT] \"ID\"[PORT]`, and this is not");
    let (port, rest) = bracketed(line).ok_or_else(unread)?;
    let port_guid = rest
        .trim_start()
        .strip_prefix('(')
        .and_then(|r| u64::from_str_radix(r.split_once(')')?.0.trim_start_matches("0x"), 16).ok());
    let (to, rest) = quoted(rest).ok_or_else(unread)?;
    // Without brackets `ibsim` means port 1.
    let (to_port, rest) = bracketed(rest).unwrap_or((1, rest));
    let comment = rest.split_once('#').map_or("", |(_, c)| c);
    // A line of an adapter begins its comment with the adapter's own address; one of a switch, with the
    // other's name.
    let own = if comment.trim_start().starts_with("lid ") { lid(comment) } else { None };
    Ok(Link { line: number, port, port_guid, to, to_port, lid: own })
}

fn bracketed(text: &str) -> Option<(u8, &str)> {
    let (number, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, rest))
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    text.split_once('"')?.1.split_once('"')
}

/// The number after `lid`; 0 means that there is none yet.
fn lid(comment: &str) -> Option<u16> {
    let after = comment.rsplit_once('"').map_or(comment, |(_, after)| after);
    let place = if comment.trim_start().starts_with("lid ") { comment } else { after };
    let rest = place.split_once("lid ")?.1;
    let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
    digits.parse().ok().filter(|lid| *lid != 0)
}

/// `S-0005…` and `H-0001…`: a node's GUID as `ibnetdiscover` makes ids of it.
fn guid_of_id(id: &str) -> Option<u64> {
    let digits = id.strip_prefix("S-").or_else(|| id.strip_prefix("H-")).or_else(|| id.strip_prefix("R-"))?;
    (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// The network as `ibnetdiscover` would print it and `ibsim` reads it. The first end node comes first:
/// `ibsim` attaches a subnet manager there if it is told nothing else.
pub fn write(network: &Network) -> String {
    let mut out = String::new();
    let switch_id = |s: SwitchId| format!("S-{:016x}", network.switch(s).guid);
    let mut adapters: Vec<Vec<&EndNode>> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    for e in network.end_nodes() {
        let adapter =
            *known.entry(e.guid).or_insert_with(|| (adapters.push(Vec::new()), adapters.len() - 1).1);
        adapters[adapter].push(e);
    }
    let mut line = |text: String| out += &(text + "\n");
    for adapter in adapters {
        line(format!("caguid=0x{:x}", adapter[0].guid));
        line(format!("Ca\t{} \"H-{:016x}\"\t\t# \"{}\"", adapter[0].ports, adapter[0].guid, adapter[0].name));
        for e in adapter {
            let s = network.switch(e.switch);
            let lids = (e.lid.unwrap_or(0), s.lid.unwrap_or(0));
            line(format!(
                "[{}]({:x})\t\"{}\"[{}]\t\t# lid {} lmc 0 \"{}\" lid {}",
                e.port.0,
                e.port_guid,
                switch_id(e.switch),
                e.switch_port.0,
                lids.0,
                s.name,
                lids.1
            ));
        }
        line(String::new());
    }
    for s in network.switch_ids() {
        let switch = network.switch(s);
        line(format!("switchguid=0x{:x}({:x})", switch.guid, switch.guid));
        line(format!(
            "Switch\t{} \"{}\"\t\t# \"{}\" base port 0 lid {} lmc 0",
            switch.ports,
            switch_id(s),
            switch.name,
            switch.lid.unwrap_or(0)
        ));
        for port in (1..=switch.ports).map(Port) {
            match network.plugged(s, port) {
                crate::Plugged::Nothing => {}
                crate::Plugged::EndNode(e) => {
                    let e = network.end_node(e);
                    line(format!(
                        "[{}]\t\"H-{:016x}\"[{}]({:x})\t\t# \"{}\" lid {}",
                        port.0,
                        e.guid,
                        e.port.0,
                        e.port_guid,
                        e.name,
                        e.lid.unwrap_or(0)
                    ));
                }
                crate::Plugged::Channel(c) => {
                    let to = network.switch(network.to(c));
                    line(format!(
                        "[{}]\t\"{}\"[{}]\t\t# \"{}\" lid {}",
                        port.0,
                        switch_id(network.to(c)),
                        network.in_port(c).0,
                        to.name,
                        to.lid.unwrap_or(0)
                    ));
                }
            }
        }
        line(String::new());
    }
    out
}
