//! An order from trees that are built one after the other, each of the shortest paths whose turns close
//! no cycle with the turns of those before.

use crate::dependencies::Dependencies;
use crate::tables::{Graph, NONE, Places};

/// What Nue does (Domke, Hoefler, Matsuoka, HPDC 2016), in little: the turns of a tree from `first` are
/// there from the beginning, so that there is a way to every switch in any case; then come the trees to
/// all switches, in the order in which a breadth-first look from `first` finds them, or the `last` of
/// these first. O(switches · cables), and the dependencies.
pub(super) fn places(graph: &Graph, first: u32, last: bool) -> Places {
    let mut dependencies = Dependencies::new(graph.channels);
    let mut roots = escapes(graph, first, &mut dependencies);
    if last {
        roots.reverse();
    }
    for root in roots {
        tree(graph, root, &mut dependencies);
    }
    let mut place = vec![0; graph.channels];
    dependencies.lowest_first().iter().enumerate().for_each(|(i, c)| place[*c as usize] = i as u32);
    Places::new(place)
}

/// All turns on a breadth-first tree, whose switches are returned as they are found.
fn escapes(graph: &Graph, root: u32, dependencies: &mut Dependencies) -> Vec<u32> {
    let mut above = vec![NONE; graph.switches];
    let mut found = vec![root];
    let mut i = 0;
    while let Some(at) = found.get(i).copied() {
        i += 1;
        for c in graph.entering(at) {
            let s = graph.from[*c as usize];
            if s != root && above[s as usize] == NONE {
                above[s as usize] = *c;
                found.push(s);
            }
        }
    }
    let on_tree =
        |c: u32| above[graph.from[c as usize] as usize] == c || above[graph.to[c as usize] as usize] == c ^ 1;
    for c in (0..graph.channels as u32).filter(|c| on_tree(*c)) {
        for next in
            graph.leaving(graph.to[c as usize]).iter().filter(|next| **next != c ^ 1 && on_tree(**next))
        {
            assert!(dependencies.add_all(&[(c, *next)]), "a tree has no cycle");
        }
    }
    found
}

/// Level by level: first by turns that are there already, then by others that close no cycle.
fn tree(graph: &Graph, root: u32, dependencies: &mut Dependencies) {
    let mut next = vec![NONE; graph.switches];
    let mut level = vec![root];
    while !level.is_empty() {
        let mut further = Vec::new();
        for new in [false, true] {
            for at in &level {
                for c in graph.entering(*at) {
                    let s = graph.from[*c as usize] as usize;
                    if s == root as usize || next[s] != NONE {
                        continue;
                    }
                    let on = next[*at as usize];
                    if on == NONE
                        || dependencies.has(*c, on)
                        || (new && *c ^ 1 != on && dependencies.add_all(&[(*c, on)]))
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
