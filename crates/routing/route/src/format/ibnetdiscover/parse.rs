//! The lines of a file as records: a record for each node, with its ports.

use super::super::error::{FormatError, at_line};

/// Words with which the line of a node begins.
const NODE_TYPES: [&str; 4] = ["Switch", "Ca", "Hca", "Rt"];

/// A node of the file.
pub(super) struct NodeRecord<'a> {
    /// Where it stands.
    pub line: usize,
    pub is_switch: bool,
    pub id: &'a str,
    pub guid: Option<u64>,
    pub ports: u8,
    pub name: &'a str,
    pub lid: Option<u16>,
    /// Its ports with a cable.
    pub cables: Vec<CableRecord<'a>>,
}

/// A cable of a node, as the node's own lines describe it.
pub(super) struct CableRecord<'a> {
    /// Where it stands.
    pub line: usize,
    pub port: u8,
    pub port_guid: Option<u64>,
    /// The node at the other end, and the port there.
    pub to: &'a str,
    pub to_port: u8,
    /// The address of this end, if it is an adapter's.
    pub lid: Option<u16>,
}

/// Whether a text looks as if it were in this format.
pub(crate) fn recognizes(text: &str) -> bool {
    text.lines().any(|line| node_type(line).is_some() && line.contains('"'))
}

/// The word with which a node's line begins.
fn node_type(line: &str) -> Option<&'static str> {
    let begins_with = |word: &str| line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t']));
    NODE_TYPES.into_iter().find(|word| begins_with(word))
}

/// The nodes of a file.
pub(super) fn records(text: &str) -> Result<Vec<NodeRecord<'_>>, FormatError> {
    let mut records: Vec<NodeRecord> = Vec::new();
    let mut next_guid = None;
    let mut inside_node = false;
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        if line.starts_with('#') {
            continue;
        }
        if let Some((key, value)) = guid_line(line) {
            if matches!(key, "switchguid" | "caguid" | "hcaguid" | "hcaguids" | "rtguid") {
                let guid =
                    hexadecimal(value).ok_or_else(|| at_line(number, format!("`{value}` is no GUID")))?;
                next_guid = Some(guid);
            }
        } else if line.starts_with('[') {
            let record = records.last_mut().filter(|_| inside_node);
            let record = record.ok_or_else(|| at_line(number, "a port that belongs to no node"))?;
            record.cables.push(cable(number, line)?);
        } else if let Some(word) = node_type(line) {
            records.push(node(number, line, word, next_guid.take())?);
            inside_node = true;
        } else if line.trim().is_empty() {
            inside_node = false;
        }
    }
    Ok(records)
}

/// `…guid=0x…` or `…guids=0x…`
fn guid_line(line: &str) -> Option<(&str, &str)> {
    line.split_once('=').filter(|(key, _)| key.ends_with("guid") || key.ends_with("guids"))
}

/// `Switch 24 "ID" # "name" … lid 5`
fn node<'a>(
    number: usize,
    line: &'a str,
    word: &str,
    guid: Option<u64>,
) -> Result<NodeRecord<'a>, FormatError> {
    let wrong = || at_line(number, format!("a node is `{word} PORTS \"ID\"`, and this line is not"));
    let rest = line[word.len()..].trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let ports: u8 = rest[..end].parse().map_err(|_| wrong())?;
    let (id, rest) = quoted(rest).ok_or_else(wrong)?;
    let comment = rest.split_once('#').map_or("", |(_, c)| c);
    let name = quoted(comment).map_or(id, |(name, _)| name);
    let (is_switch, lid) = (word == "Switch", lid(comment));
    Ok(NodeRecord { line: number, is_switch, id, guid, ports, name, lid, cables: Vec::new() })
}

/// `[port](guid) "id"[port](guid) # comment`
fn cable(number: usize, line: &str) -> Result<CableRecord<'_>, FormatError> {
    let wrong = || at_line(number, "a cable is `[PORT] \"ID\"[PORT]`, and this line is not");
    let (port, rest) = bracketed(line).ok_or_else(wrong)?;
    let port_guid = rest
        .trim_start()
        .strip_prefix('(')
        .and_then(|r| u64::from_str_radix(r.split_once(')')?.0.trim_start_matches("0x"), 16).ok());
    let (to, rest) = quoted(rest).ok_or_else(wrong)?;
    // Without brackets `ibsim` means port 1.
    let (to_port, rest) = bracketed(rest).unwrap_or((1, rest));
    let comment = rest.split_once('#').map_or("", |(_, c)| c);
    // The comment of an adapter's line begins with the adapter's own address, that of a switch's line with
    // the name of the other end.
    let own_lid = if comment.trim_start().starts_with("lid ") { lid(comment) } else { None };
    Ok(CableRecord { line: number, port, port_guid, to, to_port, lid: own_lid })
}

/// `[12]`, and the text after it.
fn bracketed(text: &str) -> Option<(u8, &str)> {
    let (number, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, rest))
}

/// `"text"`, and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.split_once('"')?.1.split_once('"')
}

/// The number after `lid`. 0 means that no address has been assigned.
fn lid(comment: &str) -> Option<u16> {
    let after_name = comment.rsplit_once('"').map_or(comment, |(_, after)| after);
    let text = if comment.trim_start().starts_with("lid ") { comment } else { after_name };
    let rest = text.split_once("lid ")?.1;
    let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
    digits.parse().ok().filter(|lid| *lid != 0)
}

/// The hexadecimal number with which a text begins, with or without `0x`.
fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.trim().trim_start_matches("0x");
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], 16).ok()
}
