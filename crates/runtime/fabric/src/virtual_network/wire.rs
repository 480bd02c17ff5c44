//! A node's end of a virtual network.

use super::network::{Health, Network};
use super::transmission::Flight;
use crate::wire::{check, check_word};
use crate::{Atomic, Event, Memory, NodeId, Ticket, Trouble, Wire};
use std::time::Duration;

/// One node's end of a [`Network`].
pub struct VirtualWire {
    network: Network,
    node: NodeId,
    memory: Memory,
    nodes: usize,
    tickets: u64,
}

impl VirtualWire {
    pub(super) fn new(network: Network, node: NodeId) -> VirtualWire {
        let (memory, nodes) = {
            let state = network.0.borrow();
            (state.nodes[node.index()].memory.clone(), state.nodes.len())
        };
        VirtualWire { network, node, memory, nodes, tickets: 0 }
    }

    fn launch(&mut self, to: NodeId, flight: impl FnOnce(Ticket) -> Flight) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let mut state = self.network.0.borrow_mut();
        if state.nodes[self.node.index()].health == Health::Well {
            state.launch(self.node, to, flight(ticket));
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

    fn send(&mut self, to: NodeId, message: &[u8]) -> Result<(), Trouble> {
        check(to, self.nodes, 0, 0, 0)?;
        self.launch(to, |_| Flight::Message(message.to_vec()));
        Ok(())
    }

    fn put(
        &mut self,
        to: NodeId,
        at: usize,
        bytes: &[u8],
        flag: Option<(usize, u64)>,
    ) -> Result<Ticket, Trouble> {
        check(to, self.nodes, at, bytes.len(), self.memory.len())?;
        if let Some((flag_at, _)) = flag {
            check_word(to, self.nodes, flag_at, self.memory.len())?;
        }
        Ok(self.launch(to, |ticket| Flight::Put { ticket, at, bytes: bytes.to_vec(), flag }))
    }

    fn atomic(&mut self, to: NodeId, at: usize, what: Atomic) -> Result<Ticket, Trouble> {
        check_word(to, self.nodes, at, self.memory.len())?;
        Ok(self.launch(to, |ticket| Flight::Atomic { ticket, at, what }))
    }

    fn poll(&mut self) -> Option<Event> {
        let mut state = self.network.0.borrow_mut();
        let node = &mut state.nodes[self.node.index()];
        if node.health == Health::Well { node.inbox.pop_front() } else { None }
    }

    /// Steps the network until something is here for this node, or the time is up in virtual time.
    fn wait(&mut self, longest: Duration) {
        let until = self.network.now() + longest;
        while self.network.0.borrow().nodes[self.node.index()].inbox.is_empty() {
            match self.network.next_arrival() {
                Some(at) if at <= until => drop(self.network.step()),
                _ => return self.network.pass(until),
            }
        }
    }
}
