//! An order from trees that are built one after the other. Each has the shortest paths whose turns close no
//! cycle with the turns of the trees before it.

use crate::dependency_graph::DependencyGraph;
use crate::tables::{ChannelPositions, Graph, NONE};

/// A simplified form of Nue (Domke, Hoefler, Matsuoka, HPDC 2016).
///
/// The turns of a breadth-first tree from `first` are in the dependency graph from the beginning. They are
/// the escape paths that give every switch a path to every other. Then the trees to all switches are built,
/// in the order in which breadth-first search from `first` finds the switches, or with `last` in the
/// reverse order. O(switches · cables), and the work on the dependency graph.
pub(super) fn order(graph: &Graph, first: u32, last: bool) -> ChannelPositions {
    let mut dependencies = DependencyGraph::new(graph.channels);
    let mut roots = add_escape_paths(graph, first, &mut dependencies);
    if last {
        roots.reverse();
    }
    for root in roots {
        add_tree(graph, root, &mut dependencies);
    }
    ChannelPositions::from_lowest(&dependencies.topological_order())
}

/// Adds all turns of a breadth-first tree. Returns its switches in the order in which they are found.
fn add_escape_paths(graph: &Graph, root: u32, dependencies: &mut DependencyGraph) -> Vec<u32> {
    let mut parent = vec![NONE; graph.switches];
    let mut found = vec![root];
    let mut i = 0;
    while let Some(at) = found.get(i).copied() {
        i += 1;
        for c in graph.entering(at) {
            let s = graph.from[*c as usize];
            if s != root && parent[s as usize] == NONE {
                parent[s as usize] = *c;
                found.push(s);
            }
        }
    }
    let on_tree = |c: u32| {
        parent[graph.from[c as usize] as usize] == c || parent[graph.to[c as usize] as usize] == c ^ 1
    };
    for c in (0..graph.channels as u32).filter(|c| on_tree(*c)) {
        for next in
            graph.leaving(graph.to[c as usize]).iter().filter(|next| **next != c ^ 1 && on_tree(**next))
        {
            assert!(dependencies.try_add(&[(c, *next)]), "a tree has no cycle");
        }
    }
    found
}

/// Builds the tree to a root, level by level: first with turns that are in the graph already, then with
/// others that close no cycle.
fn add_tree(graph: &Graph, root: u32, dependencies: &mut DependencyGraph) {
    let mut next = vec![NONE; graph.switches];
    let mut level = vec![root];
    while !level.is_empty() {
        let mut further = Vec::new();
        for allow_new in [false, true] {
            for at in &level {
                for c in graph.entering(*at) {
                    let s = graph.from[*c as usize] as usize;
                    if s == root as usize || next[s] != NONE {
                        continue;
                    }
                    let following = next[*at as usize];
                    if following == NONE
                        || dependencies.contains(*c, following)
                        || (allow_new && *c ^ 1 != following && dependencies.try_add(&[(*c, following)]))
                    {
                        next[s] = *c;
                        further.push(s as u32);
                    }
                }
            }
        }
        level = further;
    }
}
