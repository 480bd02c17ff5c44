//! Forwarding tables as OpenSM dumps them (`opensm-lfts.dump`, `dump_fts`) and loads them
//! (`opensm -R file -U FILE`).

use super::error::{FormatError, at_line};
use crate::network::{Network, Port, SwitchId};
use crate::table::{Destination, Table};
use std::collections::HashMap;
use std::fmt::Write;

/// The largest unicast address of the InfiniBand standard.
const LAST_LID: usize = 0xbfff;

/// The address (LID) of every destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lids {
    end_nodes: Vec<u16>,
    switches: Vec<u16>,
}

impl Lids {
    /// The network's own addresses, if all destinations have one and all differ. Otherwise the addresses 1,
    /// 2, 3, … for the end nodes and then the switches.
    ///
    /// OpenSM translates such addresses to its own, because the file names the GUID of every destination.
    /// `None` if there are more destinations than addresses.
    pub fn of(network: &Network) -> Option<Lids> {
        let own = Lids {
            end_nodes: network.end_nodes().iter().map(|e| e.lid.unwrap_or(0)).collect(),
            switches: network.switches().iter().map(|s| s.lid.unwrap_or(0)).collect(),
        };
        let mut all: Vec<u16> = own.end_nodes.iter().chain(&own.switches).copied().collect();
        let count = all.len();
        if count > LAST_LID {
            return None;
        }
        all.sort_unstable();
        all.dedup();
        if all.len() == count && all.first() != Some(&0) {
            return Some(own);
        }
        let switches = network.end_nodes().len() as u16 + 1;
        Some(Lids { end_nodes: (1..switches).collect(), switches: (switches..=count as u16).collect() })
    }

    /// The address of a destination.
    pub fn of_destination(&self, to: Destination) -> u16 {
        match to {
            Destination::EndNode(e) => self.end_nodes[e.index()],
            Destination::Switch(s) => self.switches[s.index()],
        }
    }
}

/// Writes tables in OpenSM's format. Entries without a path are left out. The format has no virtual lanes.
pub fn write(network: &Network, table: &Table, lids: &Lids) -> String {
    let mut out = String::new();
    let mut destinations: Vec<(u16, Destination)> =
        table.destinations().map(|d| (lids.of_destination(d), d)).collect();
    destinations.sort_unstable();
    let last = destinations.last().map_or(0, |(lid, _)| *lid);
    for s in network.switch_ids() {
        let switch = network.switch(s);
        let lid = lids.of_destination(Destination::Switch(s));
        writeln!(
            out,
            "Unicast lids [0-{last}] of switch Lid {lid} guid 0x{:016x} ('{}'):",
            switch.guid, switch.name
        )
        .expect("memory");
        for (lid, to) in &destinations {
            let Some(Port(port)) = table.port(s, *to) else { continue };
            let (kind, guid, name) = described(network, *to);
            writeln!(out, "0x{lid:04x} {port:03} # {kind} portguid 0x{guid:016x}: '{name}'").expect("memory");
        }
        writeln!(out, "{last} lids dumped").expect("memory");
    }
    out
}

/// How the format describes a destination: type, GUID, name.
fn described(network: &Network, to: Destination) -> (&'static str, u64, &str) {
    match to {
        Destination::EndNode(e) => {
            ("Channel Adapter", network.end_node(e).port_guid, &network.end_node(e).name)
        }
        Destination::Switch(s) => ("Switch", network.switch(s).guid, &network.switch(s).name),
    }
}

/// Reads tables from OpenSM, `dump_fts`, `ibroute` or [`write()`].
///
/// Destinations are identified by their GUIDs or, if a line has none, by their addresses. Entries about
/// switches and destinations that the network does not have are skipped and counted.
///
/// # Errors
/// A line is no entry, or an entry comes before the first switch.
pub fn read(network: &Network, text: &str) -> Result<(Table, SkippedEntries), FormatError> {
    let lids = Lids::of(network);
    let mut by_guid: HashMap<u64, Destination> = HashMap::new();
    let mut by_lid: HashMap<u16, Destination> = HashMap::new();
    let mut switches: HashMap<u64, SwitchId> = HashMap::new();
    let mut table = Table::empty(network, 1);
    for to in table.destinations() {
        by_guid.insert(described(network, to).1, to);
        if let Some(lids) = &lids {
            by_lid.insert(lids.of_destination(to), to);
        }
    }
    for s in network.switch_ids() {
        switches.insert(network.switch(s).guid, s);
    }
    let mut skipped = SkippedEntries::default();
    let mut at = None;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("Unicast lids") {
            let guid = line.split_once(" guid 0x").and_then(|(_, rest)| hexadecimal(rest));
            let guid = guid.ok_or_else(|| at_line(i + 1, "a switch without a GUID"))?;
            at = Some(switches.get(&guid).copied());
            skipped.switches += usize::from(at == Some(None));
        } else if let Some(rest) = line.strip_prefix("0x") {
            let wrong = || at_line(i + 1, "an entry is `0xLID PORT`, and this line is not");
            let at = at.ok_or_else(|| at_line(i + 1, "an entry before the first switch"))?;
            let (lid, rest) = rest.split_once(char::is_whitespace).ok_or_else(wrong)?;
            let lid = u16::from_str_radix(lid, 16).map_err(|_| wrong())?;
            let port: u8 = rest.split_whitespace().next().and_then(|p| p.parse().ok()).ok_or_else(wrong)?;
            let guid = rest.split_once("portguid 0x").and_then(|(_, guid)| hexadecimal(guid));
            let to = guid.map_or_else(|| by_lid.get(&lid), |guid| by_guid.get(&guid));
            match (at, to) {
                (Some(at), Some(to)) => table.set(at, *to, Some(Port(port))),
                (Some(_), None) => skipped.destinations += 1,
                (None, _) => {}
            }
        }
    }
    if at.is_none() {
        return Err(FormatError::NoSwitch);
    }
    Ok((table, skipped))
}

/// What a file of tables says about switches and destinations that the network does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedEntries {
    /// Switches that the network does not have.
    pub switches: usize,
    /// Entries for destinations that the network does not have.
    pub destinations: usize,
}

/// The hexadecimal number with which a text begins.
fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(&text[..text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len())], 16).ok()
}
