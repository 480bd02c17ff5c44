//! Fat trees of any height: extended generalized fat trees.

use super::{Impossible, port_count};
use crate::network::{Network, NetworkBuilder, SwitchId};

/// An extended generalized fat tree (Öhring et al. 1995).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatTree {
    /// How many children a node of each level has, from the lowest level of switches (whose children are
    /// end nodes) up.
    pub children: Vec<usize>,
    /// How many parents a node of each level has, from the end nodes up; the first is 1.
    pub parents: Vec<usize>,
}

impl FatTree {
    /// Two levels: `leaves` switches with `end_nodes` each, all joined to all of `spines` switches.
    pub fn two_levels(leaves: usize, spines: usize, end_nodes: usize) -> FatTree {
        FatTree { children: vec![end_nodes, leaves], parents: vec![1, spines] }
    }

    /// Three levels of switches with 2·`half` ports: the usual full fat tree with 2·half³ end nodes.
    pub fn three_levels(half: usize) -> FatTree {
        FatTree { children: vec![half, half, 2 * half], parents: vec![1, half, half] }
    }
}

/// The network of a fat tree.
///
/// # Errors
/// Lists of different length, a zero among them, several parents of an end node, too many ports.
pub fn fat_tree(of: &FatTree) -> Result<Network, Impossible> {
    let levels = of.children.len();
    let wrong = |need: &str| Impossible::Needs { what: "a fat tree", need: need.into() };
    if levels == 0 || of.parents.len() != levels {
        return Err(wrong("as many numbers of children as of parents, one for each level"));
    }
    if of.parents[0] != 1 || of.children.iter().chain(&of.parents).any(|n| *n == 0) {
        return Err(wrong("one parent for each end node, and no zeros"));
    }
    // A node of level l is a pair of numbers: which subtree it is in (`above`, counting subtrees of that
    // height), and which of the subtree's equals it is (`equals`).
    let subtrees = |level: usize| of.children[level..].iter().product::<usize>();
    let equals = |level: usize| of.parents[..level].iter().product::<usize>();
    let mut builder = NetworkBuilder::default();
    let mut at_level: Vec<Vec<SwitchId>> = Vec::new();
    for level in 1..=levels {
        let up = of.parents.get(level).copied().unwrap_or(0);
        let ports = port_count("a fat tree", of.children[level - 1] + up)?;
        let count = subtrees(level) * equals(level);
        at_level
            .push((0..count).map(|s| builder.add_switch(format!("level{level}switch{s}"), ports)).collect());
    }
    for number in 0..subtrees(0) {
        builder.add_end_node(format!("node{number}"), at_level[0][number / of.children[0]]);
    }
    for level in 1..levels {
        for (s, lower) in at_level[level - 1].iter().enumerate() {
            let (subtree, equal) = (s / equals(level), s % equals(level));
            for k in 0..of.parents[level] {
                let upper = subtree / of.children[level] * equals(level + 1) + equal * of.parents[level] + k;
                builder.join(*lower, at_level[level][upper]);
            }
        }
    }
    Ok(builder.build().expect("no port is given twice"))
}
