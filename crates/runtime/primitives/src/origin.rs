//! A node's own operations: each is sent to the sequencer again and again until its outcome comes, or
//! the sequencer has been silent for too long.

use crate::collector::Gather;
use crate::context::Here;
use crate::dissemination::{Relay, Sent};
use crate::message::Message;
use crate::operation::{Failure, Fault, NodeSet, Operation, Outcome};
use evenkeel_fabric::NodeId;
use std::collections::BTreeMap;
use std::time::Duration;

struct Open {
    set: NodeSet,
    operation: Operation,
    /// None: its data are on their way to the nodes of the set.
    asked: Option<Gather<()>>,
    /// Who was asked, and is asked again: another node might have it carried out a second time.
    by: NodeId,
}

/// The operations that this node has begun.
#[derive(Default)]
pub(crate) struct Origin {
    next: u64,
    open: BTreeMap<u64, Open>,
    outcomes: BTreeMap<u64, Outcome>,
}

impl Origin {
    pub fn start(&mut self, here: &mut Here, relay: &mut Relay, set: NodeSet, operation: Operation) -> u64 {
        let number = self.next;
        self.next += 1;
        match operation {
            Operation::Xfer { at, bytes, event } if bytes.len() > here.settings.inline_bytes => {
                let operation =
                    Operation::Staged { at, length: bytes.len(), origin: here.node, number, event };
                self.open.insert(number, Open { set: set.clone(), operation, asked: None, by: here.node });
                relay.send(here, number, set, bytes);
                self.sent(here, relay);
            }
            operation => {
                self.open.insert(number, Open { set, operation, asked: None, by: here.node });
                self.ask(here, number);
            }
        }
        number
    }

    /// Has an operation ordered.
    fn ask(&mut self, here: &mut Here, number: u64) {
        let open = self.open.get_mut(&number).expect("begun above");
        open.by = here.leader();
        open.asked = Some(Gather::asking(&[open.by], here));
        self.send(here, number);
    }

    /// Goes on with transfers whose data are everywhere, or cannot be.
    pub fn sent(&mut self, here: &mut Here, relay: &mut Relay) {
        for sent in std::mem::take(&mut relay.sent) {
            match sent {
                Sent::Everywhere(number)
                    if self.open.get(&number).is_some_and(|open| open.asked.is_none()) =>
                {
                    self.ask(here, number)
                }
                Sent::Broken(number, node)
                    if self.open.get(&number).is_some_and(|open| open.asked.is_none()) =>
                {
                    let what = if here.evicted.contains(&node) { Failure::Evicted } else { Failure::Silent };
                    self.outcome_came(here, relay, number, Err(Fault { node, what, undone: true }));
                }
                _ => {}
            }
        }
    }

    fn send(&self, here: &mut Here, number: u64) {
        let settled = self.open.keys().next().copied().unwrap_or(number);
        let Open { set, operation, by, .. } = &self.open[&number];
        here.send(*by, Message::Request { number, settled, set: set.clone(), operation: operation.clone() });
    }

    pub fn outcome_came(&mut self, here: &mut Here, relay: &mut Relay, number: u64, outcome: Outcome) {
        if self.open.remove(&number).is_some() {
            relay.end(here, number);
            self.outcomes.insert(number, outcome);
        }
    }

    /// The outcome of an operation, once; None while it is under way.
    pub fn take(&mut self, number: u64) -> Option<Outcome> {
        self.outcomes.remove(&number)
    }

    /// Everything that has come to its end since the last time.
    pub fn ended(&mut self) -> BTreeMap<u64, Outcome> {
        std::mem::take(&mut self.outcomes)
    }

    pub fn tick(&mut self, here: &mut Here, relay: &mut Relay) {
        self.sent(here, relay);
        let mut again = Vec::new();
        let mut given_up = Vec::new();
        for (&number, open) in &mut self.open {
            let Some(asked) = &mut open.asked else { continue };
            if !asked.due(here).is_empty() {
                again.push(number);
            }
            if asked.complete() {
                given_up.push(number);
            }
        }
        for number in again {
            self.send(here, number);
        }
        for number in given_up {
            let by = self.open[&number].by;
            self.lose(here, relay, number, by);
        }
    }

    /// The node that would have had an operation carried out is silent, or orders no more.
    fn lose(&mut self, here: &mut Here, relay: &mut Relay, number: u64, node: NodeId) {
        let what = if here.evicted.contains(&node) { Failure::Evicted } else { Failure::Silent };
        self.outcome_came(here, relay, number, Err(Fault { node, what, undone: false }));
    }

    /// Another node orders from now on. Nobody asks it for what the last one was asked for: that may have
    /// been carried out. If this node was that itself, it brings it to its end and will know.
    pub fn follow(&mut self, here: &mut Here, relay: &mut Relay) {
        let asked: Vec<(u64, NodeId)> = self
            .open
            .iter()
            .filter(|(_, open)| open.asked.is_some() && open.by != here.node)
            .map(|(&number, open)| (number, open.by))
            .collect();
        for (number, by) in asked {
            self.lose(here, relay, number, by);
        }
    }

    /// Whether something has been waited for for half of the limit.
    pub fn waits_long(&self, here: &Here) -> bool {
        let since = self.open.values().filter_map(|open| open.asked.as_ref()).filter_map(Gather::since).min();
        since.is_some_and(|since| here.quiet(here.leader(), since))
    }

    /// When `tick` has to be called next.
    pub fn alarm(&self) -> Option<Duration> {
        self.open.values().filter_map(|open| open.asked.as_ref().and_then(Gather::alarm)).min()
    }
}
