//! Dragonflies: groups of switches that are all joined, and groups that are all joined.

use super::{Impossible, populate, port_count};
use crate::network::{Network, NetworkBuilder, SwitchId};

/// A dragonfly in the terms of Kim et al. (ISCA 2008).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dragonfly {
    /// At most switches · global + 1.
    pub groups: usize,
    /// Switches of each group (a).
    pub switches: usize,
    /// Cables from each switch to other groups (h).
    pub global: usize,
    /// End nodes at each switch (p).
    pub end_nodes: usize,
}

/// The network of a dragonfly. Each two groups have the same number of cables between them, or one more
/// than others; the cables of a group are dealt out to its switches in turn.
///
/// # Errors
/// More groups than cables reach, or too many ports.
pub fn dragonfly(of: Dragonfly) -> Result<Network, Impossible> {
    let cables = of.switches * of.global;
    if of.groups > cables + 1 {
        let need =
            format!("{} cables from each group to others, and switches x global is {cables}", of.groups - 1);
        return Err(Impossible::Needs { what: "a dragonfly", need });
    }
    let ports = port_count("a dragonfly", of.switches.saturating_sub(1) + of.global + of.end_nodes)?;
    let mut builder = NetworkBuilder::default();
    let name = |s: usize| format!("group{}switch{}", s / of.switches, s % of.switches);
    let switches: Vec<SwitchId> =
        (0..of.groups * of.switches).map(|s| builder.add_switch(name(s), ports)).collect();
    populate(&mut builder, switches.iter().copied(), of.end_nodes);
    for group in switches.chunks(of.switches) {
        for (i, a) in group.iter().enumerate() {
            group[i + 1..].iter().for_each(|b| builder.join(*a, *b));
        }
    }
    // A round joins each group with the one `ahead` groups further on. Where that meets itself halfway,
    // each pair is met twice.
    let mut used = vec![0; of.groups];
    'rounds: loop {
        for ahead in 1..=of.groups / 2 {
            let pairs: Vec<(usize, usize)> = (0..of.groups)
                .map(|g| (g, (g + ahead) % of.groups))
                .filter(|(a, b)| 2 * ahead < of.groups || a < b)
                .collect();
            let mut after = used.clone();
            pairs.iter().flat_map(|(a, b)| [*a, *b]).for_each(|g| after[g] += 1);
            if after.iter().any(|n| *n > cables) {
                break 'rounds;
            }
            for (a, b) in pairs {
                let end = |g: usize, used: &mut [usize]| {
                    used[g] += 1;
                    switches[g * of.switches + (used[g] - 1) % of.switches]
                };
                let ends = (end(a, &mut used), end(b, &mut used));
                builder.join(ends.0, ends.1);
            }
        }
        if of.groups < 2 {
            break;
        }
    }
    Ok(builder.build().expect("no port is given twice"))
}
