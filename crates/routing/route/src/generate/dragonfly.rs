//! Dragonflies: groups of switches. All switches of a group are joined, and all groups are.

use super::error::{GenerateError, check_end_nodes, port_count, switch_count};
use super::populate::populate;
use crate::network::{Network, NetworkBuilder, SwitchId};

/// The shape of a dragonfly, in the terms of Kim et al. (ISCA 2008).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dragonfly {
    /// Number of groups, at most switches · global + 1.
    pub groups: usize,
    /// Switches per group (a).
    pub switches: usize,
    /// Cables from each switch to other groups (h).
    pub global: usize,
    /// End nodes at each switch (p).
    pub end_nodes: usize,
}

/// A dragonfly network.
///
/// Every two groups have the same number of cables between them, or one more. The cables of a group go to its
/// switches in turn.
///
/// # Errors
/// There is no switch, there are more groups than a group's cables can reach, a switch would need too many
/// ports, or there would be too many switches.
pub fn dragonfly(shape: Dragonfly) -> Result<Network, GenerateError> {
    if shape.groups == 0 || shape.switches == 0 {
        let need = "at least one group and one switch in it".into();
        return Err(GenerateError::Needs { what: "a dragonfly", need });
    }
    let cables = shape.switches.saturating_mul(shape.global);
    if shape.groups - 1 > cables {
        let need = format!(
            "{} cables from each group to others, and switches x global is {cables}",
            shape.groups - 1
        );
        return Err(GenerateError::Needs { what: "a dragonfly", need });
    }
    let for_switches = (shape.switches - 1).saturating_add(shape.global);
    let ports = port_count("a dragonfly", for_switches.saturating_add(shape.end_nodes))?;
    let count = switch_count("a dragonfly", [shape.groups, shape.switches])?;
    check_end_nodes("a dragonfly", [count, shape.end_nodes])?;
    let mut builder = NetworkBuilder::default();
    let name = |s: usize| format!("group{}switch{}", s / shape.switches, s % shape.switches);
    let switches: Vec<SwitchId> = (0..count).map(|s| builder.add_switch(name(s), ports)).collect();
    populate(&mut builder, switches.iter().copied(), shape.end_nodes);
    for group in switches.chunks(shape.switches) {
        for (i, a) in group.iter().enumerate() {
            group[i + 1..].iter().for_each(|b| builder.join(*a, *b));
        }
    }
    join_groups(shape, &switches, &mut builder);
    Ok(builder.build().expect("every port is used once"))
}

/// Joins groups in rounds. A round joins every group with the group `distance` further on.
fn join_groups(shape: Dragonfly, switches: &[SwitchId], builder: &mut NetworkBuilder) {
    if shape.groups < 2 {
        return;
    }
    let mut used = vec![0; shape.groups];
    loop {
        for distance in 1..=shape.groups / 2 {
            // If the distance is half of the groups, both groups of a pair would join the other.
            let pairs: Vec<(usize, usize)> = (0..shape.groups)
                .map(|g| (g, (g + distance) % shape.groups))
                .filter(|(a, b)| 2 * distance < shape.groups || a < b)
                .collect();
            let mut after = used.clone();
            pairs.iter().flat_map(|(a, b)| [*a, *b]).for_each(|g| after[g] += 1);
            if after.iter().any(|n| *n > shape.switches * shape.global) {
                return;
            }
            for (a, b) in pairs {
                let mut next_end = |g: usize| {
                    used[g] += 1;
                    switches[g * shape.switches + (used[g] - 1) % shape.switches]
                };
                let (a, b) = (next_end(a), next_end(b));
                builder.join(a, b);
            }
        }
    }
}
