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
/// A line is none that these programs write, or an entry comes before the first switch. A switch has two
/// ports for one address, an address belongs to two destinations, or a destination has several addresses
/// (LMC): a path is known by its destination here, so one of these paths would be checked and the other not.
pub fn read(network: &Network, text: &str) -> Result<(Table, SkippedEntries), FormatError> {
    let mut reader = Reader::new(network);
    for (i, line) in text.lines().enumerate() {
        reader.read_line(i + 1, line.trim())?;
    }
    match reader.at {
        Some(_) => Ok((reader.table, reader.skipped)),
        None => Err(FormatError::NoSwitch),
    }
}

/// Reads one line after the other.
struct Reader {
    by_guid: HashMap<u64, Destination>,
    by_lid: HashMap<u16, Destination>,
    switches: HashMap<u64, SwitchId>,
    table: Table,
    skipped: SkippedEntries,
    /// The GUID of the switch that the entries are about, and the switch if the network has it.
    at: Option<(u64, Option<SwitchId>)>,
    /// The port and the line of each switch's entry for an address.
    entries: HashMap<(u64, u16), (u8, usize)>,
    /// The address that each port has, and the port that has each address, where a line names both.
    lid_of: HashMap<u64, u16>,
    guid_of: HashMap<u16, u64>,
}

impl Reader {
    fn new(network: &Network) -> Reader {
        let table = Table::empty(network, 1);
        let lids = Lids::of(network);
        let with_lid = |to| lids.as_ref().map(|lids| (lids.of_destination(to), to));
        Reader {
            by_guid: table.destinations().map(|to| (described(network, to).1, to)).collect(),
            by_lid: table.destinations().filter_map(with_lid).collect(),
            switches: network.switch_ids().map(|s| (network.switch(s).guid, s)).collect(),
            table,
            skipped: SkippedEntries::default(),
            at: None,
            entries: HashMap::new(),
            lid_of: HashMap::new(),
            guid_of: HashMap::new(),
        }
    }

    fn read_line(&mut self, number: usize, line: &str) -> Result<(), FormatError> {
        if line.starts_with("Unicast lids") {
            let guid = line.split_once(" guid 0x").and_then(|(_, rest)| hexadecimal(rest));
            let guid = guid.ok_or_else(|| at_line(number, "a switch without a GUID"))?;
            let switch = self.switches.get(&guid).copied();
            self.at = Some((guid, switch));
            self.skipped.switches += usize::from(switch.is_none());
            Ok(())
        } else if line.starts_with("0x") {
            self.read_entry(number, line)
        } else if is_of_the_frame(line) {
            Ok(())
        } else {
            let known = "`Unicast lids ... guid 0xGUID`, `0xLID PORT` and `N lids dumped`";
            Err(at_line(number, format!("`{line}` is no line of forwarding tables; these are {known}")))
        }
    }

    fn read_entry(&mut self, number: usize, line: &str) -> Result<(), FormatError> {
        let wrong = || at_line(number, "an entry is `0xLID PORT`, and this line is not");
        let (guid_here, switch) =
            self.at.ok_or_else(|| at_line(number, "an entry before the first switch"))?;
        let (lid, rest) = line[2..].split_once(char::is_whitespace).ok_or_else(wrong)?;
        let lid = u16::from_str_radix(lid, 16).map_err(|_| wrong())?;
        let port: u8 = rest.split_whitespace().next().and_then(|p| p.parse().ok()).ok_or_else(wrong)?;
        let guid = rest.split_once("portguid 0x").and_then(|(_, guid)| hexadecimal(guid));
        let (other, first) = *self.entries.entry((guid_here, lid)).or_insert((port, number));
        if other != port {
            let why = format!(
                "switch 0x{guid_here:016x} sends address 0x{lid:04x} by port {port} here and by port {other} \
                 in line {first}; a switch has one port for an address"
            );
            return Err(at_line(number, why));
        }
        if let Some(guid) = guid {
            self.check_address(number, lid, guid)?;
        }
        let to = guid.map_or_else(|| self.by_lid.get(&lid), |guid| self.by_guid.get(&guid)).copied();
        match (switch, to) {
            (Some(at), Some(to)) => self.table.set(at, to, Some(Port(port))),
            (Some(_), None) => self.skipped.destinations += 1,
            (None, _) => {}
        }
        Ok(())
    }

    /// An address and the port that has it belong together throughout the file.
    fn check_address(&mut self, number: usize, lid: u16, guid: u64) -> Result<(), FormatError> {
        let owner = *self.guid_of.entry(lid).or_insert(guid);
        if owner != guid {
            let why = format!(
                "address 0x{lid:04x} belongs to port 0x{guid:016x} here and to 0x{owner:016x} before; dump \
                 the tables again when the subnet has settled"
            );
            return Err(at_line(number, why));
        }
        let address = *self.lid_of.entry(guid).or_insert(lid);
        if address != lid {
            let why = format!(
                "port 0x{guid:016x} has the addresses 0x{address:04x} and 0x{lid:04x}; several addresses of \
                 a port (LMC above 0) are not supported: dump tables that were made with LMC 0"
            );
            return Err(at_line(number, why));
        }
        Ok(())
    }
}

/// Lines around the entries: comments, the heads of columns, and the count at the end.
fn is_of_the_frame(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [] | ["Lid", "Out", "Destination"] | ["Port", "Info"] => true,
        [first, ..] if first.starts_with('#') => true,
        [count, rest @ ..] => {
            count.parse::<u32>().is_ok() && matches!(rest, ["lids", "dumped"] | ["valid", "lids", "dumped"])
        }
    }
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
