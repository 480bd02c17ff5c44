//! Hierarchical networks: irregular groups, joined by few cables.

use super::error::{GenerateError, check_end_nodes, port_count, switch_count};
use super::irregular::{Irregular, random_links};
use super::populate::populate;
use crate::network::{Network, NetworkBuilder, SwitchId};
use evenkeel_random::Random;

/// The shape of a hierarchical network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hierarchical {
    /// Number of groups.
    pub groups: usize,
    /// Switches per group.
    pub switches: usize,
    /// Ports of each switch for other switches of its group.
    pub degree: usize,
    /// Cables from each group to other groups.
    pub uplinks: usize,
    /// End nodes at each switch.
    pub end_nodes: usize,
}

/// A hierarchical network.
///
/// Each group is a random irregular network, and so is the network of groups. A cable between two groups
/// ends at a random switch of each. Alfaro et al. (CANPC 2000) evaluate hierarchical networks, but do not
/// say how they made them.
///
/// # Errors
/// As for [`super::irregular()`].
pub fn hierarchical(shape: Hierarchical, seed: u64) -> Result<Network, GenerateError> {
    let what = "a hierarchical network";
    if shape.groups == 0 || shape.switches == 0 {
        let need = "at least one group and one switch in it".into();
        return Err(GenerateError::Needs { what, need });
    }
    // The ports that are known beforehand; a group's cables come to them.
    port_count(what, shape.degree.saturating_add(shape.end_nodes))?;
    let count = switch_count(what, [shape.groups, shape.switches])?;
    check_end_nodes(what, [count, shape.end_nodes])?;
    port_count(what, shape.uplinks.div_ceil(shape.switches))?;
    let random = &mut Random::new(seed);
    let inside = Irregular {
        switches: shape.switches,
        degree: shape.degree,
        end_nodes: shape.end_nodes,
        parallel: false,
    };
    let between = Irregular { switches: shape.groups, degree: shape.uplinks, end_nodes: 0, parallel: true };
    let mut links = Vec::new();
    for group in 0..shape.groups {
        links.extend(
            random_links(inside, random)?
                .into_iter()
                .map(|(a, b)| (group * shape.switches + a, group * shape.switches + b)),
        );
    }
    for (a, b) in random_links(between, random)? {
        links.push((
            a * shape.switches + random.below(shape.switches),
            b * shape.switches + random.below(shape.switches),
        ));
    }
    let mut used = vec![shape.end_nodes; count];
    links.iter().flat_map(|(a, b)| [*a, *b]).for_each(|s| used[s] += 1);
    let ports = port_count(what, used.iter().copied().max().unwrap_or(0))?;
    let mut builder = NetworkBuilder::default();
    let name = |s: usize| format!("group{}switch{}", s / shape.switches, s % shape.switches);
    let switches: Vec<SwitchId> = (0..used.len()).map(|s| builder.add_switch(name(s), ports)).collect();
    populate(&mut builder, switches.iter().copied(), shape.end_nodes);
    links.into_iter().for_each(|(a, b)| builder.join(switches[a], switches[b]));
    Ok(builder.build().expect("every port is used once"))
}
