//! Random irregular networks, as in the literature on networks of workstations.

use super::error::{GenerateError, check_end_nodes, port_count, switch_count};
use super::populate::populate;
use crate::network::{Network, NetworkBuilder, SwitchId};
use evenkeel_random::Random;
use std::collections::HashSet;

/// The shape of a random irregular network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irregular {
    /// Number of switches.
    pub switches: usize,
    /// Ports of each switch for other switches.
    pub degree: usize,
    /// End nodes at each switch.
    pub end_nodes: usize,
    /// Whether two switches may have several cables between them.
    pub parallel: bool,
}

/// A connected random network: a random tree that respects the degree, then random cables between free
/// ports until no two ports are left that may be joined.
///
/// Sancho, Robles and Duato (CANPC 2000, section 5) use eight ports, four of them for end nodes, and no
/// parallel cables. They do not say which generator they used.
///
/// # Errors
/// The degree is too small to connect the network, or a switch would need too many ports.
pub fn irregular(shape: Irregular, seed: u64) -> Result<Network, GenerateError> {
    let what = "an irregular network";
    let ports = port_count(what, shape.degree.saturating_add(shape.end_nodes))?;
    switch_count(what, [shape.switches])?;
    check_end_nodes(what, [shape.switches, shape.end_nodes])?;
    let mut builder = NetworkBuilder::default();
    let switches: Vec<SwitchId> =
        (0..shape.switches).map(|s| builder.add_switch(format!("switch{s}"), ports)).collect();
    populate(&mut builder, switches.iter().copied(), shape.end_nodes);
    for (a, b) in random_links(shape, &mut Random::new(seed))? {
        builder.join(switches[a], switches[b]);
    }
    Ok(builder.build().expect("every port is used once"))
}

/// The cables of a random network, as pairs of numbers of switches.
pub(super) fn random_links(
    shape: Irregular,
    random: &mut Random,
) -> Result<Vec<(usize, usize)>, GenerateError> {
    let least = shape.switches.saturating_sub(1).min(2);
    if shape.degree < least {
        let need = format!("at least {least} ports of each switch for other switches, to be connected");
        return Err(GenerateError::Needs { what: "an irregular network", need });
    }
    let mut links =
        Links { free: vec![shape.degree; shape.switches], joined: HashSet::new(), all: Vec::new() };
    let mut order: Vec<usize> = (0..shape.switches).collect();
    random.shuffle(&mut order);
    // The switches of the tree that have a free port. There is always one, because a tree of n switches uses
    // 2(n - 1) of at least 2n ports.
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
    // Pairs are drawn among free ports, so that a switch is drawn in proportion to its free ports.
    loop {
        let mut stubs: Vec<usize> =
            (0..shape.switches).flat_map(|s| std::iter::repeat_n(s, links.free[s])).collect();
        random.shuffle(&mut stubs);
        let before = links.all.len();
        for pair in stubs.chunks_exact(2) {
            if pair[0] != pair[1] && (shape.parallel || !links.has(pair[0], pair[1])) {
                links.join(pair[0], pair[1]);
            }
        }
        if links.all.len() == before && !links.join_any(shape.parallel) {
            return Ok(links.all);
        }
    }
}

/// Cables between switches, and the ports that are free.
struct Links {
    /// By switch: free ports.
    free: Vec<usize>,
    /// Pairs of switches with a cable, the lower number first.
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

    /// Joins the first two switches that may be joined. Returns whether there were two.
    fn join_any(&mut self, parallel: bool) -> bool {
        let open: Vec<usize> = (0..self.free.len()).filter(|s| self.free[*s] > 0).collect();
        let pairs = open.iter().enumerate().flat_map(|(i, a)| open[i + 1..].iter().map(move |b| (*a, *b)));
        let found = pairs.into_iter().find(|(a, b)| parallel || !self.has(*a, *b));
        found.inspect(|(a, b)| self.join(*a, *b)).is_some()
    }
}
