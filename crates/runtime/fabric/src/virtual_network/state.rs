//! The state of a virtual network: its nodes, what is under way, and the clock.

use super::faults::{Faults, RandomSource};
use super::transmission::{InFlight, Transmission};
use crate::memory::Memory;
use crate::node::NodeId;
use crate::wire::Event;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::time::Duration;

/// Whether a node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It acts on what arrives.
    Running,
    /// It is stopped: what arrives waits until it runs again. Its memory can be written meanwhile.
    Frozen,
    /// It has died, for good.
    Dead,
}

pub(super) struct Node {
    pub memory: Memory,
    pub inbox: VecDeque<Event>,
    pub liveness: Liveness,
}

pub(super) struct NetworkState {
    pub now: Duration,
    pub nodes: Vec<Node>,
    pub faults: Faults,
    /// Pairs (from, to) between which nothing arrives.
    pub cut: HashSet<(NodeId, NodeId)>,
    /// Messages and puts that were sent, and their bytes.
    pub traffic: (u64, u64),
    in_flight: BinaryHeap<Reverse<InFlight>>,
    random: RandomSource,
    /// Transmissions that were ever sent. It orders those that arrive at the same moment.
    sent: u64,
}

impl NetworkState {
    pub fn new(nodes: usize, memory_bytes: usize, faults: Faults, seed: u64) -> NetworkState {
        let node = |_| Node {
            memory: Memory::new(memory_bytes).expect("address space for a node's memory"),
            inbox: VecDeque::new(),
            liveness: Liveness::Running,
        };
        NetworkState {
            now: Duration::ZERO,
            nodes: (0..nodes).map(node).collect(),
            faults,
            cut: HashSet::new(),
            traffic: (0, 0),
            in_flight: BinaryHeap::new(),
            random: RandomSource::new(seed),
            sent: 0,
        }
    }

    pub fn node(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node.index()]
    }

    /// Sends something on its way: lost, once or twice.
    pub fn send(&mut self, from: NodeId, to: NodeId, transmission: Transmission) {
        self.traffic.0 += 1;
        self.traffic.1 += transmission.bytes();
        if from != to && self.random.happens(self.faults.loss) {
            return;
        }
        let twice =
            from != to && transmission.may_be_duplicated() && self.random.happens(self.faults.duplicate);
        for _ in 0..=usize::from(twice) {
            let spread = self.faults.longest.saturating_sub(self.faults.shortest);
            let delay =
                if from == to { Duration::ZERO } else { self.faults.shortest + self.random.up_to(spread) };
            self.sent += 1;
            self.in_flight.push(Reverse(InFlight {
                arrival: self.now + delay,
                number: self.sent,
                from,
                to,
                transmission: transmission.clone(),
            }));
        }
    }

    /// When the next transmission arrives.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.in_flight.peek().map(|Reverse(next)| next.arrival)
    }

    /// Lets the next transmission arrive and moves the clock to that moment. Returns the receiver; None if
    /// nothing is under way.
    pub fn step(&mut self) -> Option<NodeId> {
        let Reverse(InFlight { arrival, from, to, transmission, .. }) = self.in_flight.pop()?;
        self.now = self.now.max(arrival);
        // A partition loses what is under way, too.
        if self.node(to).liveness != Liveness::Dead && !self.cut.contains(&(from, to)) {
            self.deliver(from, to, transmission);
        }
        Some(to)
    }

    /// Moves the clock to a moment before which nothing arrives.
    pub fn advance_to(&mut self, until: Duration) {
        assert!(
            self.next_arrival().is_none_or(|arrival| arrival >= until),
            "something arrives before that: step first"
        );
        self.now = self.now.max(until);
    }

    fn deliver(&mut self, from: NodeId, to: NodeId, transmission: Transmission) {
        let node = self.node(to);
        match transmission {
            Transmission::Message(bytes) => node.inbox.push_back(Event::Message { from, bytes }),
            Transmission::Put { ticket, at, bytes, flag } => {
                node.memory.put(at, &bytes, flag);
                self.send(to, from, Transmission::Completion { ticket, fetched: 0 });
            }
            Transmission::Atomic { ticket, at, operation } => {
                let fetched = node.memory.update(at, operation);
                self.send(to, from, Transmission::Completion { ticket, fetched });
            }
            Transmission::Completion { ticket, fetched } => {
                node.inbox.push_back(Event::Completed { ticket, fetched });
            }
        }
    }
}
