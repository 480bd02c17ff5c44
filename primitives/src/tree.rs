//! The tree over which questions go down and answers, combined on the way, come up. The sequencer is above all.

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
    fn everybody_is_reached_once() {
        let sequencer = NodeId(0);
        for nodes in 1..40 {
            for fanout in 1..5 {
                for first in [0, 1] {
                    let set: NodeSet = (first..nodes).map(NodeId).collect();
                    let mut reached: Vec<_> =
                        children(&set, sequencer, sequencer, fanout).into_iter().flat_map(|child| below(&set, sequencer, child, fanout)).collect();
                    reached.sort_unstable();
                    assert_eq!(reached, (1..nodes).map(NodeId).collect::<Vec<_>>(), "{nodes} nodes, fanout {fanout}");
                }
            }
        }
    }
}
