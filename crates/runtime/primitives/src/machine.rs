//! One node as a state machine: messages, calls and the time go in, messages come out. No I/O, no clock.

use crate::context::{Context, StagedData};
use crate::message::Message;
use crate::node_set::NodeSet;
use crate::operation::{EventId, Operation, OperationNumber};
use crate::outcome::{CallError, Outcome};
use crate::roles::Roles;
use crate::settings::Settings;
use crate::view::View;
use evenkeel_fabric::{Memory, NodeId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::time::Duration;

/// Messages to other nodes.
pub type Outgoing = Vec<(NodeId, Message)>;

/// One node's part in the primitives.
pub struct Machine {
    node: NodeId,
    nodes: usize,
    settings: Settings,
    last_heard: HashMap<NodeId, Duration>,
    evicted: BTreeSet<NodeId>,
    awake_since: Duration,
    last_tick: Duration,
    events: BTreeMap<EventId, u64>,
    staged: StagedData,
    view: View,
    roles: Roles,
}

impl Machine {
    /// The machine of one of so many nodes.
    pub fn new(node: NodeId, nodes: usize, settings: Settings) -> Machine {
        Machine {
            node,
            nodes,
            settings,
            last_heard: HashMap::new(),
            evicted: BTreeSet::new(),
            awake_since: Duration::ZERO,
            last_tick: Duration::ZERO,
            events: BTreeMap::new(),
            staged: StagedData::new(),
            view: View::default(),
            roles: Roles::default(),
        }
    }

    /// Lets the roles act. Messages to this node itself are received at once; the others are returned.
    fn act<R>(
        &mut self,
        now: Duration,
        memory: &Memory,
        act: impl FnOnce(&mut Roles, &mut Context) -> R,
    ) -> (R, Outgoing) {
        let mut outgoing = Vec::new();
        let mut to_others = Vec::new();
        let mut context = Context {
            now,
            node: self.node,
            nodes: self.nodes,
            view: &mut self.view,
            memory,
            settings: &self.settings,
            last_heard: &self.last_heard,
            awake_since: self.awake_since,
            evicted: &self.evicted,
            events: &mut self.events,
            staged: &mut self.staged,
            outgoing: &mut outgoing,
        };
        let result = act(&mut self.roles, &mut context);
        while !context.outgoing.is_empty() {
            for (to, message) in std::mem::take(context.outgoing) {
                if to == context.node {
                    self.roles.receive(&mut context, to, message);
                } else {
                    to_others.push((to, Message(message)));
                }
            }
        }
        (result, to_others)
    }

    /// Begins an operation.
    pub fn start(
        &mut self,
        now: Duration,
        memory: &Memory,
        set: NodeSet,
        operation: Operation,
    ) -> Result<(OperationNumber, Outgoing), CallError> {
        self.check(memory, &set, &operation)?;
        Ok(self.act(now, memory, |roles, context| {
            roles.origin.start(context, &mut roles.disseminator, set, operation)
        }))
    }

    fn check(&self, memory: &Memory, set: &NodeSet, operation: &Operation) -> Result<(), CallError> {
        if set.is_empty() {
            return Err(CallError::EmptySet);
        }
        if let Some(node) = set.iter().find(|node| node.index() >= self.nodes) {
            return Err(CallError::NoSuchNode(node, self.nodes));
        }
        let check_range = |at: usize, length: usize| match at.checked_add(length) {
            Some(end) if end <= memory.len() => Ok(()),
            end => Err(CallError::OutOfRange { at, end: end.unwrap_or(usize::MAX), bytes: memory.len() }),
        };
        let check_word = |at: usize| {
            check_range(at, 8).and(if at % 8 == 0 { Ok(()) } else { Err(CallError::Misaligned(at)) })
        };
        match operation {
            Operation::Xfer { at, bytes, .. } => check_range(*at, bytes.len()),
            Operation::Staged { .. } => Err(CallError::StagedTransfer),
            Operation::Compare { variable, write, .. } => {
                check_word(*variable).and(write.map_or(Ok(()), |write| check_word(write.at)))
            }
        }
    }

    /// Takes a message.
    pub fn receive(&mut self, now: Duration, memory: &Memory, from: NodeId, message: Message) -> Outgoing {
        if self.evicted.contains(&from) {
            return Vec::new(); // it was declared dead, and the other nodes rely on that
        }
        self.last_heard.insert(from, now);
        self.act(now, memory, |roles, context| roles.receive(context, from, message.0)).1
    }

    /// Does what is due. To be called when [`Machine::next_due`] says so, or more often.
    pub fn tick(&mut self, now: Duration, memory: &Memory) -> Outgoing {
        // If this node did not run for a while, silence in that time means nothing: what was sent to it
        // has not been read yet.
        if now > self.last_tick + self.settings.limit / 4 {
            self.awake_since = now;
        }
        self.last_tick = now;
        self.act(now, memory, Roles::tick).1
    }

    /// When `tick` has to be called next; None: not before something happens.
    pub fn next_due(&self) -> Option<Duration> {
        self.roles.next_due(self.node, self.nodes, &self.settings)
    }

    /// The outcome of an operation, once; None while it is under way.
    pub fn take_outcome(&mut self, number: OperationNumber) -> Option<Outcome> {
        self.roles.origin.take_outcome(number)
    }

    /// All outcomes that have not been taken.
    pub fn take_outcomes(&mut self) -> BTreeMap<OperationNumber, Outcome> {
        self.roles.origin.take_outcomes()
    }

    /// Whether these bytes of this node's memory can be read: no operation in doubt would change them.
    pub fn is_readable(&self, range: &Range<usize>) -> bool {
        !self.settings.rules.reads_wait || self.roles.participant.is_readable(range)
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

    /// Declares a node dead. The caller must be sure, and make sure that the node does not come back. Nothing
    /// waits for it any more, and its messages are ignored.
    pub fn evict(&mut self, node: NodeId) {
        self.evicted.insert(node);
    }

    /// Bytes of transfers, of all nodes, that have not been ordered yet.
    pub fn staged_bytes(&self) -> usize {
        self.staged.values().map(Vec::len).sum()
    }

    /// The node that orders operations, as far as this node knows.
    pub fn sequencer(&self) -> NodeId {
        self.view.sequencer(self.nodes)
    }

    /// How many operations, of all nodes, this node remembers. The number is bounded, unless nodes stay
    /// silent and are not evicted.
    pub fn remembered(&self) -> usize {
        self.roles.participant.remembered()
    }
}
