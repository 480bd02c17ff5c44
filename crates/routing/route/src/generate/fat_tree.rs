//! Fat trees of any height: extended generalized fat trees.

use super::error::{GenerateError, check_end_nodes, port_count, switch_count};
use crate::network::{Network, NetworkBuilder, SwitchId};

/// The shape of an extended generalized fat tree (Öhring et al. 1995).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatTree {
    /// Children of a node of each level, from the lowest level of switches up. The children of the lowest
    /// level are end nodes.
    pub children: Vec<usize>,
    /// Parents of a node of each level, from the end nodes up. End nodes have one parent.
    pub parents: Vec<usize>,
}

impl FatTree {
    /// Two levels: `leaves` switches with `end_nodes` end nodes each, all joined with all of `spines`
    /// switches.
    pub fn two_levels(leaves: usize, spines: usize, end_nodes: usize) -> FatTree {
        FatTree { children: vec![end_nodes, leaves], parents: vec![1, spines] }
    }

    /// Three levels of switches with 2·`half` ports: the full fat tree with 2·half³ end nodes.
    pub fn three_levels(half: usize) -> FatTree {
        FatTree { children: vec![half, half, 2 * half], parents: vec![1, half, half] }
    }
}

/// A fat tree.
///
/// # Errors
/// The lists differ in length or contain a zero, end nodes have several parents, or a switch would need too
/// many ports.
pub fn fat_tree(shape: &FatTree) -> Result<Network, GenerateError> {
    let levels = shape.children.len();
    let wrong = |need: &str| GenerateError::Needs { what: "a fat tree", need: need.into() };
    if levels == 0 || shape.parents.len() != levels {
        return Err(wrong("as many numbers of children as of parents, one for each level"));
    }
    if shape.parents[0] != 1 || shape.children.iter().chain(&shape.parents).any(|n| *n == 0) {
        return Err(wrong("one parent for each end node, and no zeros"));
    }
    // The products below are parts of these.
    for level in 1..=levels {
        let up = shape.parents.get(level).copied().unwrap_or(0);
        port_count("a fat tree", shape.children[level - 1].saturating_add(up))?;
        let factors = shape.children[level..].iter().chain(&shape.parents[..level]);
        switch_count("a fat tree", factors.copied())?;
    }
    check_end_nodes("a fat tree", shape.children.iter().copied())?;
    // A node is identified by its level, by the subtree of that height to which it belongs, and by its
    // number among the equal nodes at the top of that subtree.
    let subtrees = |level: usize| shape.children[level..].iter().product::<usize>();
    let equals = |level: usize| shape.parents[..level].iter().product::<usize>();
    let mut builder = NetworkBuilder::default();
    let mut at_level: Vec<Vec<SwitchId>> = Vec::new();
    for level in 1..=levels {
        let up = shape.parents.get(level).copied().unwrap_or(0);
        let ports = port_count("a fat tree", shape.children[level - 1] + up)?;
        let count = subtrees(level) * equals(level);
        at_level
            .push((0..count).map(|s| builder.add_switch(format!("level{level}switch{s}"), ports)).collect());
    }
    for number in 0..subtrees(0) {
        builder.add_end_node(format!("node{number}"), at_level[0][number / shape.children[0]]);
    }
    for level in 1..levels {
        for (s, lower) in at_level[level - 1].iter().enumerate() {
            let (subtree, equal) = (s / equals(level), s % equals(level));
            for k in 0..shape.parents[level] {
                let upper =
                    subtree / shape.children[level] * equals(level + 1) + equal * shape.parents[level] + k;
                builder.join(*lower, at_level[level][upper]);
            }
        }
    }
    Ok(builder.build().expect("every port is used once"))
}
