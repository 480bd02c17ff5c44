//! One node's part in the primitives as a state machine: messages, calls and the time go in, messages
//! come out. No I/O, no clock.

use crate::context::{Here, Settings};
use crate::dissemination::{Relay, Staged};
use crate::message::{Message, Turn};
use crate::operation::{EventId, NodeSet, Operation, Outcome};
use crate::origin::Origin;
use crate::participant::Participant;
use crate::sequencer::Sequencer;
use crate::view::{View, sequencer_of, view_of};
use crate::view_change::Succession;
use evenkeel_fabric::{Memory, NodeId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::time::Duration;

/// A call that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    #[error("the set of nodes is empty")]
    NoNodes,
    #[error("{0} is not one of the {1} nodes of this job")]
    NoSuchNode(NodeId, usize),
    #[error("bytes {at} to {end} do not lie within the {bytes} bytes of global memory")]
    OutOfRange { at: usize, end: usize, bytes: usize },
    #[error("only the primitives themselves move data that came ahead")]
    NotACall,
    #[error("a variable lies at a multiple of 8, and {0} is none")]
    Misaligned(usize),
}

/// Names an operation of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(pub(crate) u64);

/// One node.
pub struct Machine {
    node: NodeId,
    nodes: usize,
    settings: Settings,
    heard: HashMap<NodeId, Duration>,
    evicted: BTreeSet<NodeId>,
    awake_since: Duration,
    last_tick: Duration,
    events: BTreeMap<EventId, u64>,
    origin: Origin,
    participant: Participant,
    sequencer: Sequencer,
    relay: Relay,
    staged: Staged,
    view: View,
    succession: Succession,
}

impl Machine {
    pub fn new(node: NodeId, nodes: usize, settings: Settings) -> Machine {
        Machine {
            node,
            nodes,
            settings,
            heard: HashMap::new(),
            evicted: BTreeSet::new(),
            awake_since: Duration::ZERO,
            last_tick: Duration::ZERO,
            events: BTreeMap::new(),
            origin: Origin::default(),
            participant: Participant::default(),
            sequencer: Sequencer::default(),
            relay: Relay::default(),
            staged: Staged::new(),
            view: 0,
            succession: Succession::default(),
        }
    }

    /// Runs a part of the machine; what it says to this node itself is heard at once, the rest is returned.
    fn run<R>(
        &mut self,
        now: Duration,
        memory: &Memory,
        part: impl FnOnce(&mut Parts, &mut Here) -> R,
    ) -> (R, Vec<(NodeId, Message)>) {
        let mut out = Vec::new();
        let mut away = Vec::new();
        let mut here = Here {
            now,
            node: self.node,
            nodes: self.nodes,
            view: &mut self.view,
            memory,
            settings: &self.settings,
            heard: &self.heard,
            awake_since: self.awake_since,
            evicted: &self.evicted,
            events: &mut self.events,
            staged: &mut self.staged,
            out: &mut out,
        };
        let mut parts = Parts {
            origin: &mut self.origin,
            participant: &mut self.participant,
            sequencer: &mut self.sequencer,
            relay: &mut self.relay,
            succession: &mut self.succession,
        };
        let result = part(&mut parts, &mut here);
        while !here.out.is_empty() {
            for (to, message) in std::mem::take(here.out) {
                if to == here.node {
                    parts.receive(&mut here, to, message);
                } else {
                    away.push((to, message));
                }
            }
        }
        (result, away)
    }

    /// Begins an operation.
    pub fn start(
        &mut self,
        now: Duration,
        memory: &Memory,
        set: NodeSet,
        operation: Operation,
    ) -> Result<(Number, Vec<(NodeId, Message)>), Mistake> {
        self.check(memory, &set, &operation)?;
        let (number, out) =
            self.run(now, memory, |parts, here| parts.origin.start(here, parts.relay, set, operation));
        Ok((Number(number), out))
    }

    fn check(&self, memory: &Memory, set: &NodeSet, operation: &Operation) -> Result<(), Mistake> {
        if set.is_empty() {
            return Err(Mistake::NoNodes);
        }
        if let Some(node) = set.iter().find(|node| node.index() >= self.nodes) {
            return Err(Mistake::NoSuchNode(node, self.nodes));
        }
        let inside = |at: usize, length: usize| match at.checked_add(length) {
            Some(end) if end <= memory.len() => Ok(()),
            end => Err(Mistake::OutOfRange { at, end: end.unwrap_or(usize::MAX), bytes: memory.len() }),
        };
        let word =
            |at: usize| inside(at, 8).and(if at % 8 == 0 { Ok(()) } else { Err(Mistake::Misaligned(at)) });
        match operation {
            Operation::Xfer { at, bytes, .. } => inside(*at, bytes.len()),
            Operation::Staged { .. } => Err(Mistake::NotACall),
            Operation::Compare { variable, write, .. } => {
                word(*variable).and(write.map_or(Ok(()), |(at, _)| word(at)))
            }
        }
    }

    /// Takes a message up.
    pub fn receive(
        &mut self,
        now: Duration,
        memory: &Memory,
        from: NodeId,
        message: Message,
    ) -> Vec<(NodeId, Message)> {
        if self.evicted.contains(&from) {
            return Vec::new(); // it was declared dead, and the others go by that
        }
        self.heard.insert(from, now);
        self.run(now, memory, |parts, here| parts.receive(here, from, message)).1
    }

    /// Lets time pass: to be called at [`Machine::alarm`], or more often.
    pub fn tick(&mut self, now: Duration, memory: &Memory) -> Vec<(NodeId, Message)> {
        // This node was not heard either while it did not run, and what was sent to it meanwhile has not been
        // read yet.
        if now > self.last_tick + self.settings.limit / 4 {
            self.awake_since = now;
        }
        self.last_tick = now;
        let tick = |parts: &mut Parts, here: &mut Here| {
            parts.relay.tick(here);
            parts.origin.tick(here, parts.relay);
            parts.participant.tick(here);
            parts.sequencer.tick(here);
            if parts.origin.waits_long(here) {
                parts.succession.suspect(here, false);
            }
            if let Some(view) = parts.succession.tick(here) {
                parts.follow(here, view);
                if parts.succession.run(here) {
                    parts.sequencer.begin(view);
                }
            }
        };
        self.run(now, memory, tick).1
    }

    /// When `tick` has to be called next; None: not before something happens.
    pub fn alarm(&self) -> Option<Duration> {
        let participant = self
            .participant
            .alarm(self.settings.limit, |turn| sequencer_of(view_of(turn), self.nodes) == self.node);
        let succession = self.succession.alarm();
        [
            self.origin.alarm(),
            participant,
            self.sequencer.alarm(),
            succession,
            self.relay.alarm(self.settings.limit),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The outcome of an operation, once; None while it is under way.
    pub fn outcome(&mut self, number: Number) -> Option<Outcome> {
        self.origin.take(number.0)
    }

    /// The outcomes of all operations that have ended since the last call of this or `outcome`.
    pub fn ended(&mut self) -> Vec<(Number, Outcome)> {
        self.origin.ended().into_iter().map(|(number, outcome)| (Number(number), outcome)).collect()
    }

    /// Whether these bytes of this node's memory can be read: nothing that is in doubt would change them.
    pub fn readable(&self, range: &Range<usize>) -> bool {
        !self.settings.rules.reads_wait || self.participant.readable(range)
    }

    /// Takes one signal of an event, if there is one.
    pub fn take_signal(&mut self, event: EventId) -> bool {
        match self.events.get_mut(&event) {
            Some(1) => self.events.remove(&event).is_some(),
            Some(count) => {
                *count -= 1;
                true
            }
            None => false,
        }
    }

    /// Signals an event of this node.
    pub fn signal(&mut self, event: EventId) {
        *self.events.entry(event).or_default() += 1;
    }

    /// A node is dead and will not come back: whoever says so knows, and sees to it. Nothing waits for it
    /// any more, and nothing is heard of it.
    pub fn evict(&mut self, node: NodeId) {
        self.evicted.insert(node);
    }

    /// Bytes of transfers that have not been ordered yet, of all nodes.
    pub fn staged_bytes(&self) -> usize {
        self.staged.values().map(Vec::len).sum()
    }

    /// The node that orders operations, as far as this one knows.
    pub fn sequencer(&self) -> NodeId {
        sequencer_of(self.view, self.nodes)
    }

    /// How many operations of all nodes this node remembers: bounded, unless nodes stay silent and are not
    /// evicted.
    pub fn remembered(&self) -> usize {
        self.participant.remembered()
    }
}

struct Parts<'a> {
    origin: &'a mut Origin,
    participant: &'a mut Participant,
    sequencer: &'a mut Sequencer,
    relay: &'a mut Relay,
    succession: &'a mut Succession,
}

impl Parts<'_> {
    /// Follows a higher view from now on.
    fn follow(&mut self, here: &mut Here, view: View) {
        if view > *here.view {
            self.succession.adopt(here, view);
            self.sequencer.depose(here);
            self.origin.follow(here, self.relay);
        }
    }

    /// This node may not order yet. While it campaigns the question will come again; a campaign that was
    /// lost is begun anew, and who asked is told whom it did not reach.
    fn not_yet(&mut self, here: &mut Here, from: NodeId, number: u64) {
        let Some(lacking) = self.succession.lost(here) else { return };
        self.sequencer.refuse(here, from, number, lacking);
        if self.succession.run(here) {
            self.sequencer.begin(*here.view);
        }
    }

    fn receive(&mut self, here: &mut Here, from: NodeId, message: Message) {
        if let Message::Prepare { turn, .. } | Message::Decide { turn, .. } = message {
            self.follow(here, view_of(turn));
        }
        let ordered_here = |turn: Turn| here.sequencer(turn) == here.node;
        match message {
            Message::Request { .. } if here.leader() != here.node => {
                here.send(from, Message::View { view: *here.view })
            }
            Message::Request { number, .. }
                if self.succession.established != *here.view && !self.sequencer.knows(from, number) =>
            {
                self.not_yet(here, from, number)
            }
            Message::Request { number, settled, set, operation } => {
                self.sequencer.request(here, from, number, settled, set, operation)
            }
            Message::Underway { .. } | Message::Busy { .. } => {}
            Message::Outcome { number, outcome } => {
                self.origin.outcome_came(here, self.relay, number, outcome)
            }
            Message::Data { origin, number, half, set, total, at, bytes } => {
                self.relay.data(here, from, (origin, number, half), set, total, at, &bytes)
            }
            Message::Have { origin, number, half, own, all, asked } => {
                self.relay.have(here, from, (origin, number, half), own, all, asked);
                self.origin.sent(here, self.relay);
            }
            Message::Broken { origin, number, half, node } => {
                self.relay.broken(here, (origin, number, half), node);
                self.origin.sent(here, self.relay);
            }
            Message::Prepare { turn, horizon, set, operation } => {
                self.participant.prepare(here, from, turn, horizon, set, operation)
            }
            Message::Vote { turn, vote } if ordered_here(turn) => self.sequencer.vote(here, from, turn, vote),
            Message::Vote { turn, vote } => self.participant.vote(here, from, turn, vote),
            Message::Decide { turn, horizon, set, commit, alone } => {
                self.participant.decide(here, from, turn, horizon, set, commit, alone)
            }
            Message::Ack { turn, ack } if ordered_here(turn) => self.sequencer.ack(here, from, turn, ack),
            Message::Ack { turn, ack } => self.participant.ack(here, from, turn, ack),
            Message::Ask { turn } if ordered_here(turn) => self.sequencer.ask(here, from, turn),
            Message::Ask { turn } => self.participant.ask(here, from, turn),
            Message::Tell { turn, told } => self.participant.told(here, from, turn, told),
            Message::Final { turn, commit } => self.participant.finally(here, turn, commit),
            Message::Suspect { view } if view == *here.view => self.succession.suspect(here, true),
            Message::Suspect { view } if view < *here.view => {
                here.send(from, Message::View { view: *here.view })
            }
            Message::Suspect { .. } => {}
            Message::Probe if here.leader() == here.node => here.send(from, Message::Alive),
            Message::Probe => here.send(from, Message::View { view: *here.view }),
            Message::Alive => self.succession.alive(here, from),
            Message::Campaign { view } => {
                if self.succession.campaign(here, from, view) {
                    self.follow(here, view);
                }
            }
            Message::Promise { view } => {
                if self.succession.promise(here, from, view) {
                    self.sequencer.begin(view);
                }
            }
            Message::View { view } => self.follow(here, view),
        }
    }
}
