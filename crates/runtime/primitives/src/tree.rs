//! The trees over a set of nodes: one over which requests go down and answers, combined on the way, come
//! up; and two over which the halves of large data go down.

use crate::node_set::NodeSet;
use evenkeel_fabric::NodeId;

/// The nodes of a set without the root, in the order of their places in the tree.
fn places(set: &NodeSet, root: NodeId) -> Vec<NodeId> {
    set.iter().filter(|&node| node != root).collect()
}

/// The nodes directly below a node, at most `fanout`. The root need not be in the set.
pub fn children(set: &NodeSet, root: NodeId, node: NodeId, fanout: usize) -> Vec<NodeId> {
    let places = places(set, root);
    let first = if node == root {
        0
    } else {
        match places.binary_search(&node) {
            Ok(place) => (place + 1) * fanout,
            Err(_) => return Vec::new(),
        }
    };
    places.into_iter().skip(first).take(fanout).collect()
}

/// The nodes directly below a node in the tree for one half (0 or 1) of an origin's data. A node that is
/// inside one tree is a leaf of the other. The origin sends each half once, to the tree's first node;
/// every other node has at most two nodes below it.
pub fn children_of_half(set: &NodeSet, origin: NodeId, node: NodeId, half: u8) -> Vec<NodeId> {
    let places = places(set, origin);
    // The second tree has the places in reverse, so that the leaves of the first tree, which are its last
    // half, come first.
    let turned = |place: usize| if half == 0 { place } else { places.len() - 1 - place };
    let below = if node == origin {
        0..1
    } else {
        match places.binary_search(&node) {
            Ok(place) => 2 * turned(place) + 1..2 * turned(place) + 3,
            Err(_) => return Vec::new(),
        }
    };
    below.filter(|place| *place < places.len()).map(|place| places[turned(place)]).collect()
}

/// A node and all nodes below it.
pub fn subtree(set: &NodeSet, root: NodeId, node: NodeId, fanout: usize) -> Vec<NodeId> {
    let mut found = vec![node];
    let mut next = 0;
    while next < found.len() {
        found.extend(children(set, root, found[next], fanout));
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_half_reaches_every_node_once_and_no_node_forwards_both() {
        for nodes in 1..70 {
            for origin in [NodeId(0), NodeId(nodes / 2), NodeId(nodes)] {
                let set = NodeSet::all(nodes as usize);
                let of = |node: NodeId, half| children_of_half(&set, origin, node, half);
                for half in [0, 1] {
                    let mut reached = of(origin, half);
                    assert!(reached.len() <= 1);
                    let mut next = 0;
                    while next < reached.len() {
                        reached.extend(of(reached[next], half));
                        next += 1;
                    }
                    reached.sort_unstable();
                    assert_eq!(
                        reached,
                        set.iter().filter(|node| *node != origin).collect::<Vec<_>>(),
                        "{nodes} nodes from {origin}"
                    );
                }
                for node in set.iter().filter(|node| *node != origin) {
                    assert!(
                        of(node, 0).len().max(of(node, 1).len()) <= 2
                            && (of(node, 0).is_empty() || of(node, 1).is_empty()),
                        "{node} of {nodes}, from {origin}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_node_is_reached_once() {
        let sequencer = NodeId(0);
        for nodes in 1..40 {
            for fanout in 1..5 {
                for first in [0, 1] {
                    let set: NodeSet = (first..nodes).map(NodeId).collect();
                    let mut reached: Vec<_> = children(&set, sequencer, sequencer, fanout)
                        .into_iter()
                        .flat_map(|child| subtree(&set, sequencer, child, fanout))
                        .collect();
                    reached.sort_unstable();
                    assert_eq!(
                        reached,
                        (1..nodes).map(NodeId).collect::<Vec<_>>(),
                        "{nodes} nodes, fanout {fanout}"
                    );
                }
            }
        }
    }
}
