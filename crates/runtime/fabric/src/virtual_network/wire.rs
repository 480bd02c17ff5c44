//! A node's end of a virtual network.

use super::state::{Liveness, NetworkState};
use super::transmission::Transmission;
use crate::memory::{Atomic, Memory, WordWrite};
use crate::node::NodeId;
use crate::wire::{Event, Ticket, Wire, WireError, check_atomic, check_node, check_put};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// One node's end of a [`VirtualNetwork`](super::VirtualNetwork).
pub struct VirtualWire {
    network: Rc<RefCell<NetworkState>>,
    node: NodeId,
    memory: Memory,
    nodes: usize,
    tickets: u64,
}

impl VirtualWire {
    pub(super) fn new(network: Rc<RefCell<NetworkState>>, node: NodeId) -> VirtualWire {
        let (memory, nodes) = {
            let mut state = network.borrow_mut();
            (state.node(node).memory.clone(), state.nodes.len())
        };
        VirtualWire { network, node, memory, nodes, tickets: 0 }
    }

    fn begin(&mut self, to: NodeId, transmission: impl FnOnce(Ticket) -> Transmission) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let mut state = self.network.borrow_mut();
        if state.node(self.node).liveness == Liveness::Running {
            state.send(self.node, to, transmission(ticket));
        }
        ticket
    }
}

impl Wire for VirtualWire {
    fn node(&self) -> NodeId {
        self.node
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn send(&mut self, to: NodeId, message: &[u8]) -> Result<(), WireError> {
        check_node(to, self.nodes)?;
        self.begin(to, |_| Transmission::Message(message.to_vec()));
        Ok(())
    }

    fn put(
        &mut self,
        to: NodeId,
        at: usize,
        bytes: &[u8],
        flag: Option<WordWrite>,
    ) -> Result<Ticket, WireError> {
        check_put(to, self.nodes, at, bytes.len(), flag, self.memory.len())?;
        Ok(self.begin(to, |ticket| Transmission::Put { ticket, at, bytes: bytes.to_vec(), flag }))
    }

    fn atomic(&mut self, to: NodeId, at: usize, operation: Atomic) -> Result<Ticket, WireError> {
        check_atomic(to, self.nodes, at, self.memory.len())?;
        Ok(self.begin(to, |ticket| Transmission::Atomic { ticket, at, operation }))
    }

    fn poll(&mut self) -> Option<Event> {
        let mut state = self.network.borrow_mut();
        let node = state.node(self.node);
        if node.liveness == Liveness::Running { node.inbox.pop_front() } else { None }
    }

    /// Steps the network until there is an event for this node, or the time is up in virtual time.
    fn wait(&mut self, longest: Duration) {
        let mut state = self.network.borrow_mut();
        let until = state.now + longest;
        while state.node(self.node).inbox.is_empty() {
            match state.next_arrival() {
                Some(at) if at <= until => drop(state.step()),
                _ => return state.advance_to(until),
            }
        }
    }
}
