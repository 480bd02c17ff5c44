//! Who orders operations: in each view one node. Views are counted; view 0 is node 0's, each further
//! one the next node's.

use crate::message::Turn;
use evenkeel_fabric::NodeId;

/// The number of a view.
pub type View = u64;

/// Turns of a view: more than a node can order in its life.
const TURNS: u32 = 40;

/// The first turn of a view, so that all turns of a view come before all of the next.
pub fn first_turn(view: View) -> Turn {
    (view << TURNS) + 1
}

/// The view that a turn was given in.
pub fn view_of(turn: Turn) -> View {
    turn >> TURNS
}

/// The node that orders operations in a view.
pub fn sequencer_of(view: View, nodes: usize) -> NodeId {
    NodeId((view % nodes as u64) as u32)
}

/// The first view after one that is a node's own.
pub fn next_own(view: View, node: NodeId, nodes: usize) -> View {
    (view + 1..).find(|&view| sequencer_of(view, nodes) == node).expect("every node's turn comes")
}
