//! Random irregular networks, as the literature on networks of workstations uses them.

use super::{Impossible, populate, port_count};
use crate::network::{Network, NetworkBuilder, SwitchId};
use evenkeel_random::Random;
use std::collections::HashSet;

/// What a random irregular network is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irregular {
    pub switches: usize,
    /// Ports of each switch for other switches.
    pub degree: usize,
    /// End nodes at each switch.
    pub end_nodes: usize,
    /// Whether two switches may have several cables between them.
    pub parallel: bool,
}

/// A connected network: a random tree that respects the degree, then random cables between free ports
/// until no two are left that may be joined. (Sancho, Robles, Duato, CANPC 2000, section 5: eight
/// ports, four of them for end nodes, no parallel cables. Which generator they used is not said.)
///
/// # Errors
/// A degree that leaves the network in pieces; too many ports.
pub fn irregular(of: Irregular, seed: u64) -> Result<Network, Impossible> {
    let ports = port_count("an irregular network", of.degree + of.end_nodes)?;
    let mut builder = NetworkBuilder::default();
    let switches: Vec<SwitchId> =
        (0..of.switches).map(|s| builder.add_switch(format!("switch{s}"), ports)).collect();
    populate(&mut builder, switches.iter().copied(), of.end_nodes);
    for (a, b) in random_links(of, &mut Random::new(seed))? {
        builder.join(switches[a], switches[b]);
    }
    Ok(builder.build().expect("no port is given twice"))
}

/// The cables, as pairs of numbers of switches.
pub(super) fn random_links(of: Irregular, random: &mut Random) -> Result<Vec<(usize, usize)>, Impossible> {
    let least = of.switches.saturating_sub(1).min(2);
    if of.degree < least {
        let need = format!("at least {least} ports of each switch for other switches, to be connected");
        return Err(Impossible::Needs { what: "an irregular network", need });
    }
    let mut links = Links { free: vec![of.degree; of.switches], joined: HashSet::new(), all: Vec::new() };
    let mut order: Vec<usize> = (0..of.switches).collect();
    random.shuffle(&mut order);
    // The switches in the tree that have a port left. There is always one: a tree of n switches uses 2(n -
    // 1) ports of at least 2n.
    let mut open: Vec<usize> = order.first().copied().into_iter().collect();
    for s in order.iter().skip(1) {
        let i = random.below(open.len());
        let parent = open[i];
        links.join(*s, parent);
        if links.free[parent] == 0 {
            open.swap_remove(i);
        }
        if links.free[*s] > 0 {
            open.push(*s);
        }
    }
    // Pairs are drawn among free ports, so that a switch with many of them is as likely as its ports are.
    loop {
        let mut stubs: Vec<usize> =
            (0..of.switches).flat_map(|s| std::iter::repeat_n(s, links.free[s])).collect();
        random.shuffle(&mut stubs);
        let before = links.all.len();
        for pair in stubs.chunks_exact(2) {
            if pair[0] != pair[1] && (of.parallel || !links.has(pair[0], pair[1])) {
                links.join(pair[0], pair[1]);
            }
        }
        if links.all.len() == before && !links.join_any(of.parallel) {
            return Ok(links.all);
        }
    }
}

struct Links {
    free: Vec<usize>,
    joined: HashSet<(usize, usize)>,
    all: Vec<(usize, usize)>,
}

impl Links {
    fn has(&self, a: usize, b: usize) -> bool {
        self.joined.contains(&(a.min(b), a.max(b)))
    }

    fn join(&mut self, a: usize, b: usize) {
        self.free[a] -= 1;
        self.free[b] -= 1;
        self.joined.insert((a.min(b), a.max(b)));
        self.all.push((a, b));
    }

    /// Joins the first two switches that may be joined, if there are two.
    fn join_any(&mut self, parallel: bool) -> bool {
        let open: Vec<usize> = (0..self.free.len()).filter(|s| self.free[*s] > 0).collect();
        let pairs = open.iter().enumerate().flat_map(|(i, a)| open[i + 1..].iter().map(move |b| (*a, *b)));
        let found = pairs.into_iter().find(|(a, b)| parallel || !self.has(*a, *b));
        found.inspect(|(a, b)| self.join(*a, *b)).is_some()
    }
}
