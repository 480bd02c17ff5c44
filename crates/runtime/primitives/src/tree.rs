//! The tree over which questions go down and answers, combined on the way, come up. The sequencer is
//! above all.

use crate::operation::NodeSet;
use evenkeel_fabric::NodeId;

/// The nodes of a set but for the sequencer, in the order of their places in the tree.
fn places(set: &NodeSet, sequencer: NodeId) -> Vec<NodeId> {
    set.iter().filter(|&node| node != sequencer).collect()
}

/// The nodes directly below a node; each has `fanout` at most.
pub fn children(set: &NodeSet, sequencer: NodeId, node: NodeId, fanout: usize) -> Vec<NodeId> {
    let places = places(set, sequencer);
    let first = if node == sequencer {
        0
    } else {
        match places.binary_search(&node) {
            Ok(place) => (place + 1) * fanout,
            Err(_) => return Vec::new(),
        }
    };
    places.into_iter().skip(first).take(fanout).collect()
}

/// To whom a node passes on a half of an origin's data (0 or 1), each by a tree of its own: who is at
/// the end of one tree may be within the other, and nobody is within both. An origin sends each half
/// once, to the tree's first; two at most are below each of the others.
pub fn passes_half_to(set: &NodeSet, origin: NodeId, node: NodeId, half: u8) -> Vec<NodeId> {
    let places = places(set, origin);
    // The second tree has the places in reverse, so that the ends of the first, its last half, come first.
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

/// A node and all below it.
pub fn below(set: &NodeSet, sequencer: NodeId, node: NodeId, fanout: usize) -> Vec<NodeId> {
    let mut found = vec![node];
    let mut next = 0;
    while next < found.len() {
        found.extend(children(set, sequencer, found[next], fanout));
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_half_reaches_everybody_once_and_nobody_passes_both_on() {
        for nodes in 1..70 {
            for origin in [NodeId(0), NodeId(nodes / 2), NodeId(nodes)] {
                let set = NodeSet::all(nodes as usize);
                let of = |node: NodeId, half| passes_half_to(&set, origin, node, half);
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
    fn everybody_is_reached_once() {
        let sequencer = NodeId(0);
        for nodes in 1..40 {
            for fanout in 1..5 {
                for first in [0, 1] {
                    let set: NodeSet = (first..nodes).map(NodeId).collect();
                    let mut reached: Vec<_> = children(&set, sequencer, sequencer, fanout)
                        .into_iter()
                        .flat_map(|child| below(&set, sequencer, child, fanout))
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
