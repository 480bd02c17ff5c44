//! Views: which node orders operations, and the place of an operation in the order of all.
//!
//! Views are numbered. View 0 is node 0's; each further view is the next node's, in turns.

use evenkeel_fabric::NodeId;
use serde::{Deserialize, Serialize};

/// The number of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct View(u64);

/// The place of an operation in the order of all: the view in which a sequencer ordered it, and its number in
/// that view, from 1 on. (The viewstamp of Oki and Liskov 1988.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Viewstamp(u64);

/// Bits of a viewstamp for the number within its view: more operations than a node can order in its life.
const NUMBER_BITS: u32 = 40;

impl View {
    /// The node that orders operations in this view.
    pub fn sequencer(self, nodes: usize) -> NodeId {
        NodeId((self.0 % nodes as u64) as u32)
    }

    /// The view that comes so many views later.
    pub fn after(self, views: u64) -> View {
        View(self.0 + views)
    }

    /// The first later view that is a node's own.
    pub fn next_of(self, node: NodeId, nodes: usize) -> View {
        let mut later = (1..=nodes as u64).map(|views| self.after(views));
        later.find(|view| view.sequencer(nodes) == node).expect("each node has one view in so many")
    }

    /// The place of the view's first operation. All viewstamps of a view come before all of the next one.
    pub fn first_stamp(self) -> Viewstamp {
        Viewstamp((self.0 << NUMBER_BITS) + 1)
    }
}

impl Viewstamp {
    /// The view in which the operation was ordered.
    pub fn view(self) -> View {
        View(self.0 >> NUMBER_BITS)
    }

    /// The place of the next operation of the same view.
    pub fn next(self) -> Viewstamp {
        Viewstamp(self.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_belong_to_the_nodes_in_turns() {
        let first = View::default();
        assert_eq!(first.sequencer(3), NodeId(0));
        assert_eq!(first.next_of(NodeId(0), 3), View(3));
        assert_eq!(first.next_of(NodeId(2), 3), View(2));
        assert_eq!(View(4).next_of(NodeId(1), 3), View(7));
    }

    #[test]
    fn all_of_a_view_comes_before_the_next_view() {
        let last = Viewstamp((1 << NUMBER_BITS) - 1);
        assert_eq!(last.view(), View::default());
        assert!(last < View(1).first_stamp());
        assert_eq!(View(1).first_stamp().next().view(), View(1));
    }
}
