//! Lists of cables, for networks from other sources.
//!
//! ```text
//! # comment
//! a b        a cable between the switches a and b
//! b c 2      two parallel cables
//! a + 4      four end nodes at switch a
//! * + 4      four end nodes at every switch
//! ```
//!
//! Switches are numbered in the order in which they are first named. Ports, GUIDs and end nodes are
//! assigned in order.

use super::error::{FormatError, at_line};
use crate::network::{Network, NetworkBuilder, SwitchId};
use std::collections::HashMap;
use std::fmt::Write;

/// The most ports of a switch.
const MOST_PORTS: usize = 254;

/// Reads a list of cables.
///
/// # Errors
/// A line has none of the forms above, joins a switch with itself, or the switch would have more than 254
/// ports.
pub fn read(text: &str) -> Result<Network, FormatError> {
    let list = EdgeList::parse(text)?;
    let end_nodes = list.end_nodes_by_switch();
    let mut ports = end_nodes.clone();
    for cable in &list.cables {
        if cable.a == cable.b {
            let why = format!("switch `{}` is joined with itself", list.names[cable.a]);
            return Err(at_line(cable.line, why));
        }
        ports[cable.a] += cable.count;
        ports[cable.b] += cable.count;
    }
    let mut builder = NetworkBuilder::default();
    for (name, ports) in list.names.iter().zip(ports) {
        if ports > MOST_PORTS {
            let why = format!("switch `{name}` would have {ports} ports; the most is {MOST_PORTS}");
            return Err(at_line(1, why));
        }
        builder.add_switch(*name, ports as u8);
    }
    for (s, n) in end_nodes.into_iter().enumerate() {
        for e in 0..n {
            builder.add_end_node(format!("{}node{e}", list.names[s]), SwitchId(s as u32));
        }
    }
    for cable in &list.cables {
        (0..cable.count).for_each(|_| builder.join(SwitchId(cable.a as u32), SwitchId(cable.b as u32)));
    }
    Ok(builder.build()?)
}

/// What the lines of a list say.
#[derive(Default)]
struct EdgeList<'a> {
    /// Switches in the order in which they are named.
    names: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
    cables: Vec<Cables>,
    /// End nodes at a switch, or at every switch.
    end_nodes: Vec<(Option<usize>, usize)>,
}

/// Parallel cables between two switches, and the line that names them.
struct Cables {
    a: usize,
    b: usize,
    count: usize,
    line: usize,
}

impl<'a> EdgeList<'a> {
    fn parse(text: &'a str) -> Result<EdgeList<'a>, FormatError> {
        let mut list = EdgeList::default();
        for (i, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
            list.add_line(i + 1, &words)?;
        }
        if list.names.is_empty() { Err(FormatError::NoSwitch) } else { Ok(list) }
    }

    fn add_line(&mut self, line: usize, words: &[&'a str]) -> Result<(), FormatError> {
        let number = |word: &str| {
            let number = word.parse::<u8>().map(usize::from);
            number.map_err(|_| at_line(line, format!("`{word}` is no number from 0 to 255")))
        };
        match *words {
            [] => {}
            ["*", "+", n] => self.end_nodes.push((None, number(n)?)),
            [s, "+", n] => {
                let s = self.switch(s);
                self.end_nodes.push((Some(s), number(n)?));
            }
            [a, b] => self.add_cables(a, b, 1, line),
            [a, b, n] => self.add_cables(a, b, number(n)?, line),
            _ => {
                let why = "a line is `SWITCH SWITCH`, `SWITCH SWITCH CABLES` or `SWITCH + END_NODES`";
                return Err(at_line(line, why));
            }
        }
        Ok(())
    }

    fn add_cables(&mut self, a: &'a str, b: &'a str, count: usize, line: usize) {
        let (a, b) = (self.switch(a), self.switch(b));
        self.cables.push(Cables { a, b, count, line });
    }

    /// The number of a switch, which is new if its name is.
    fn switch(&mut self, name: &'a str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn end_nodes_by_switch(&self) -> Vec<usize> {
        let mut all = vec![0; self.names.len()];
        for (s, n) in &self.end_nodes {
            match s {
                Some(s) => all[*s] += n,
                None => all.iter_mut().for_each(|sum| *sum += n),
            }
        }
        all
    }
}

/// Writes the cables and end nodes of a network.
///
/// The format has no ports, GUIDs and names of end nodes. Switches whose names are not unique or have
/// blanks get other names.
pub fn write(network: &Network) -> String {
    let mut uses: HashMap<&str, u32> = HashMap::new();
    network.switches().iter().for_each(|s| *uses.entry(&s.name).or_default() += 1);
    let name = |s: SwitchId| {
        let name = network.switch(s).name.as_str();
        let is_usable = !name.is_empty()
            && name != "*"
            && name != "+"
            && !name.contains([' ', '\t', '#'])
            && uses[name] == 1;
        if is_usable { name.to_string() } else { format!("switch{}", s.0) }
    };
    let mut out = String::new();
    for s in network.switch_ids() {
        writeln!(out, "{} + {}", name(s), network.end_nodes_at(s).len()).expect("memory");
    }
    for c in network.channel_ids().step_by(2) {
        writeln!(out, "{} {}", name(network.from(c)), name(network.to(c))).expect("memory");
    }
    out
}
