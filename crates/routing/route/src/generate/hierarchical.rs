//! Hierarchical networks: groups that are irregular inside, joined by few links.

use super::irregular::{Irregular, random_links};
use super::{Impossible, populate, port_count};
use crate::network::{Network, NetworkBuilder, SwitchId};
use evenkeel_random::Random;

/// What a hierarchical network is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hierarchical {
    pub groups: usize,
    /// Switches of each group.
    pub switches: usize,
    /// Ports of each switch for others of its group.
    pub degree: usize,
    /// Cables from each group to others.
    pub uplinks: usize,
    /// End nodes at each switch.
    pub end_nodes: usize,
}

/// Each group is an irregular network of its own, and so are the groups among each other; a cable
/// between groups ends at a random switch of each. (Alfaro et al., CANPC 2000, evaluate hierarchical
/// networks without saying how they are made; this is one way.)
///
/// # Errors
/// As for [`super::irregular()`].
pub fn hierarchical(of: Hierarchical, seed: u64) -> Result<Network, Impossible> {
    let random = &mut Random::new(seed);
    let inside =
        Irregular { switches: of.switches, degree: of.degree, end_nodes: of.end_nodes, parallel: false };
    let between = Irregular { switches: of.groups, degree: of.uplinks, end_nodes: 0, parallel: true };
    let mut links = Vec::new();
    for group in 0..of.groups {
        links.extend(
            random_links(inside, random)?
                .into_iter()
                .map(|(a, b)| (group * of.switches + a, group * of.switches + b)),
        );
    }
    for (a, b) in random_links(between, random)? {
        links
            .push((a * of.switches + random.below(of.switches), b * of.switches + random.below(of.switches)));
    }
    let mut used = vec![of.end_nodes; of.groups * of.switches];
    links.iter().flat_map(|(a, b)| [*a, *b]).for_each(|s| used[s] += 1);
    let ports = port_count("a hierarchical network", used.iter().copied().max().unwrap_or(0))?;
    let mut builder = NetworkBuilder::default();
    let name = |s: usize| format!("group{}switch{}", s / of.switches, s % of.switches);
    let switches: Vec<SwitchId> = (0..used.len()).map(|s| builder.add_switch(name(s), ports)).collect();
    populate(&mut builder, switches.iter().copied(), of.end_nodes);
    links.into_iter().for_each(|(a, b)| builder.join(switches[a], switches[b]));
    Ok(builder.build().expect("no port is given twice"))
}
