//! The network itself: who is where, what is under way, and the clock.

use super::faults::{Dice, Faults};
use super::transmission::{Flight, InAir};
use super::wire::VirtualWire;
use crate::{Event, Memory, NodeId};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

/// How a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Well,
    /// Stopped: what comes waits until it goes on. Its memory can be written meanwhile.
    Frozen,
    Dead,
}

pub(super) struct Node {
    pub(super) memory: Memory,
    pub(super) inbox: VecDeque<Event>,
    pub(super) health: Health,
}

pub(super) struct State {
    now: Duration,
    pub(super) nodes: Vec<Node>,
    air: BinaryHeap<Reverse<InAir>>,
    /// Pairs (from, to) that do not hear each other.
    cut: HashSet<(NodeId, NodeId)>,
    faults: Faults,
    dice: Dice,
    /// Everything that was ever sent, for the order of what arrives at the same moment.
    sent: u64,
    messages: u64,
    bytes: u64,
}

/// The network as its owner sees it. Clones are the same network.
#[derive(Clone)]
pub struct Network(pub(super) Rc<RefCell<State>>);

impl Network {
    /// A network of so many nodes that show each other so many bytes, and the nodes' ends of it.
    pub fn new(nodes: usize, memory_bytes: usize, faults: Faults, seed: u64) -> (Network, Vec<VirtualWire>) {
        let make = |_| Node {
            memory: Memory::new(memory_bytes).expect("address space for a node's memory"),
            inbox: VecDeque::new(),
            health: Health::Well,
        };
        let state = State {
            now: Duration::ZERO,
            nodes: (0..nodes).map(make).collect(),
            air: BinaryHeap::new(),
            cut: HashSet::new(),
            faults,
            dice: Dice::new(seed),
            sent: 0,
            messages: 0,
            bytes: 0,
        };
        let network = Network(Rc::new(RefCell::new(state)));
        let wires = (0..nodes as u32).map(|node| VirtualWire::new(network.clone(), NodeId(node))).collect();
        (network, wires)
    }

    /// Virtual time since the start.
    pub fn now(&self) -> Duration {
        self.0.borrow().now
    }

    /// When the next thing arrives.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.0.borrow().air.peek().map(|Reverse(in_air)| in_air.at)
    }

    /// Brings the next thing to its node, which is returned; None when nothing is in the air.
    pub fn step(&self) -> Option<NodeId> {
        self.0.borrow_mut().step()
    }

    /// Lets the clock go on to a moment; what arrives until then has to be stepped through before.
    pub fn pass(&self, until: Duration) {
        let mut state = self.0.borrow_mut();
        assert!(
            state.air.peek().is_none_or(|Reverse(next)| next.at >= until),
            "something arrives before that"
        );
        state.now = state.now.max(until);
    }

    /// Nodes of different groups hear each other no more; one that is in no group hears nobody. One group
    /// of all makes it whole again.
    pub fn part(&self, groups: &[&[NodeId]]) {
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

    pub fn set_health(&self, node: NodeId, health: Health) {
        let mut state = self.0.borrow_mut();
        let node = &mut state.nodes[node.index()];
        assert!(node.health != Health::Dead || health == Health::Dead, "the dead stay dead");
        node.health = health;
        if health == Health::Dead {
            node.inbox.clear();
        }
    }

    pub fn health(&self, node: NodeId) -> Health {
        self.0.borrow().nodes[node.index()].health
    }

    /// Messages and puts that were sent, each hop once, and their bytes.
    pub fn traffic(&self) -> (u64, u64) {
        let state = self.0.borrow();
        (state.messages, state.bytes)
    }
}

impl State {
    /// Sends a flight on its way: lost, once or twice.
    pub(crate) fn launch(&mut self, from: NodeId, to: NodeId, flight: Flight) {
        self.messages += 1;
        self.bytes += flight.bytes();
        if from != to && self.dice.falls(self.faults.loss) {
            return;
        }
        let again = from != to && flight.may_be_doubled() && self.dice.falls(self.faults.duplicate);
        for _ in 0..=usize::from(again) {
            let spread = self.faults.longest.saturating_sub(self.faults.shortest);
            let delay =
                if from == to { Duration::ZERO } else { self.faults.shortest + self.dice.up_to(spread) };
            self.sent += 1;
            let flight = flight.clone();
            self.air.push(Reverse(InAir { at: self.now + delay, order: self.sent, from, to, flight }));
        }
    }

    fn step(&mut self) -> Option<NodeId> {
        let Reverse(InAir { at, from, to, flight, .. }) = self.air.pop()?;
        self.now = self.now.max(at);
        // A cable that is pulled loses what is in it.
        if self.nodes[to.index()].health == Health::Dead || self.cut.contains(&(from, to)) {
            return Some(to);
        }
        self.arrive(from, to, flight);
        Some(to)
    }

    fn arrive(&mut self, from: NodeId, to: NodeId, flight: Flight) {
        let node = &mut self.nodes[to.index()];
        match flight {
            Flight::Message(bytes) => node.inbox.push_back(Event::Message { from, bytes }),
            Flight::Put { ticket, at, bytes, flag } => {
                node.memory.write(at, &bytes);
                if let Some((at, value)) = flag {
                    node.memory.store(at, value);
                }
                self.launch(to, from, Flight::Done { ticket, fetched: 0 });
            }
            Flight::Atomic { ticket, at, what } => {
                let fetched = node.memory.change(at, what);
                self.launch(to, from, Flight::Done { ticket, fetched });
            }
            Flight::Done { ticket, fetched } => node.inbox.push_back(Event::Done { ticket, fetched }),
        }
    }
}
