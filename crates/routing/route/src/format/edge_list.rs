//! Lists of cables, for networks that come from elsewhere.
//!
//! ```text
//! # comment
//! a b        a cable between the switches a and b
//! b c 2      two of them
//! a + 4      four end nodes at switch a
//! * + 4      four end nodes at every switch
//! ```
//!
//! Switches are numbered in the order in which they are first named, and get ports, GUIDs and end nodes
//! by rule.

use super::{FormatError, at_line};
use crate::network::{Network, NetworkBuilder, SwitchId};
use std::collections::HashMap;
use std::fmt::Write;

/// # Errors
/// A line that is none of the above, a switch joined with itself, or with more than 254 ports.
pub fn read(text: &str) -> Result<Network, FormatError> {
    let mut names: Vec<&str> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut cables = Vec::new();
    let mut end_nodes: Vec<(Option<usize>, usize)> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        let mut number = |name| *numbers.entry(name).or_insert_with(|| (names.push(name), names.len() - 1).1);
        let count = |word: &str| {
            word.parse::<u8>()
                .map(usize::from)
                .map_err(|_| at_line(i + 1, format!("`{word}` is no number from 0 to 255")))
        };
        match words[..] {
            [] => {}
            ["*", "+", n] => end_nodes.push((None, count(n)?)),
            [s, "+", n] => end_nodes.push((Some(number(s)), count(n)?)),
            [a, b] => cables.push((number(a), number(b), 1, i + 1)),
            [a, b, n] => cables.push((number(a), number(b), count(n)?, i + 1)),
            _ => {
                return Err(at_line(
                    i + 1,
                    "a line is `SWITCH SWITCH`, `SWITCH SWITCH CABLES` or `SWITCH + END_NODES`",
                ));
            }
        }
    }
    if names.is_empty() {
        return Err(FormatError::NoSwitch);
    }
    let mut at = vec![0; names.len()];
    for (s, n) in end_nodes {
        match s {
            Some(s) => at[s] += n,
            None => at.iter_mut().for_each(|a| *a += n),
        }
    }
    let mut ports = at.clone();
    for (a, b, n, line) in &cables {
        if a == b {
            return Err(at_line(*line, format!("switch `{}` is joined with itself", names[*a])));
        }
        ports[*a] += n;
        ports[*b] += n;
    }
    let mut builder = NetworkBuilder::default();
    for (s, ports) in ports.iter().enumerate() {
        if *ports > 254 {
            return Err(at_line(
                1,
                format!("switch `{}` would have {ports} ports; the most is 254", names[s]),
            ));
        }
        builder.add_switch(names[s], *ports as u8);
    }
    for (s, n) in at.into_iter().enumerate() {
        (0..n).for_each(|e| _ = builder.add_end_node(format!("{}node{e}", names[s]), SwitchId(s as u32)));
    }
    for (a, b, n, _) in cables {
        (0..n).for_each(|_| builder.join(SwitchId(a as u32), SwitchId(b as u32)));
    }
    Ok(builder.build()?)
}

/// The cables and end nodes of a network. Ports, GUIDs and names of end nodes are lost, and so are
/// switches' names with blanks or that occur twice.
pub fn write(network: &Network) -> String {
    let mut times: HashMap<&str, u32> = HashMap::new();
    network.switches().iter().for_each(|s| *times.entry(&s.name).or_default() += 1);
    let name = |s: SwitchId| {
        let name = network.switch(s).name.as_str();
        let plain = !name.is_empty()
            && name != "*"
            && name != "+"
            && !name.contains([' ', '\t', '#'])
            && times[name] == 1;
        if plain { name.to_string() } else { format!("switch{}", s.0) }
    };
    let mut out = String::new();
    for s in network.switch_ids() {
        writeln!(out, "{} + {}", name(s), network.attached(s).len()).expect("memory");
    }
    for c in network.channel_ids().step_by(2) {
        writeln!(out, "{} {}", name(network.from(c)), name(network.to(c))).expect("memory");
    }
    out
}
