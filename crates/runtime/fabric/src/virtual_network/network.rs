//! The network as its owner sees it.

use super::faults::Faults;
use super::state::{Liveness, NetworkState};
use super::wire::VirtualWire;
use crate::node::NodeId;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// A network in virtual time. Clones are the same network.
#[derive(Clone)]
pub struct VirtualNetwork(Rc<RefCell<NetworkState>>);

impl VirtualNetwork {
    /// A network of so many nodes, each of which exposes so many bytes to the others; and the nodes' ends of
    /// it.
    pub fn new(
        nodes: usize,
        memory_bytes: usize,
        faults: Faults,
        seed: u64,
    ) -> (VirtualNetwork, Vec<VirtualWire>) {
        let state = Rc::new(RefCell::new(NetworkState::new(nodes, memory_bytes, faults, seed)));
        let wire = |node| VirtualWire::new(Rc::clone(&state), NodeId(node));
        let wires = (0..nodes as u32).map(wire).collect();
        (VirtualNetwork(state), wires)
    }

    /// Virtual time since the start.
    pub fn now(&self) -> Duration {
        self.0.borrow().now
    }

    /// When the next transmission arrives; None if nothing is under way.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.0.borrow().next_arrival()
    }

    /// Delivers the next transmission and moves the clock to that moment. Returns the receiver; None if
    /// nothing is under way.
    pub fn step(&self) -> Option<NodeId> {
        self.0.borrow_mut().step()
    }

    /// Moves the clock to a moment.
    ///
    /// # Panics
    /// If something arrives before that moment: it has to be delivered first, by [`VirtualNetwork::step`].
    pub fn advance_to(&self, until: Duration) {
        self.0.borrow_mut().advance_to(until);
    }

    /// Partitions the network: nothing arrives between nodes that are not in one of these groups together,
    /// from now on. One group of all nodes ends the partition.
    pub fn partition(&self, groups: &[&[NodeId]]) {
        let mut state = self.0.borrow_mut();
        let all = 0..state.nodes.len() as u32;
        let together = |a, b| a == b || groups.iter().any(|group| group.contains(&a) && group.contains(&b));
        state.cut = all
            .clone()
            .flat_map(|a| all.clone().map(move |b| (NodeId(a), NodeId(b))))
            .filter(|&(a, b)| !together(a, b))
            .collect();
    }

    /// Replaces the faults from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.0.borrow_mut().faults = faults;
    }

    /// Freezes a node, lets it run again, or kills it.
    ///
    /// # Panics
    /// If a dead node is to live again.
    pub fn set_liveness(&self, node: NodeId, liveness: Liveness) {
        let mut state = self.0.borrow_mut();
        let node = state.node(node);
        assert!(node.liveness != Liveness::Dead || liveness == Liveness::Dead, "a dead node stays dead");
        node.liveness = liveness;
        if liveness == Liveness::Dead {
            node.inbox.clear();
        }
    }

    /// Whether a node runs.
    pub fn liveness(&self, node: NodeId) -> Liveness {
        self.0.borrow_mut().node(node).liveness
    }

    /// How many transmissions were sent, and their bytes of payload.
    pub fn traffic(&self) -> (u64, u64) {
        self.0.borrow().traffic
    }
}
