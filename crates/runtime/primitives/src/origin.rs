//! A node's own operations. Each is sent to the sequencer again and again until its outcome comes, or
//! until the sequencer has been silent for too long.

use crate::collector::Collector;
use crate::context::Context;
use crate::dissemination::{Dissemination, Disseminator};
use crate::message::Body;
use crate::node_set::NodeSet;
use crate::operation::{Operation, OperationNumber};
use crate::outcome::{NodeFailure, OperationError, Outcome};
use evenkeel_fabric::NodeId;
use std::collections::BTreeMap;
use std::time::Duration;

/// An operation without an outcome.
struct Open {
    set: NodeSet,
    operation: Operation,
    /// The request to the sequencer. None: the operation's data are still being sent ahead.
    request: Option<Collector<()>>,
    /// The node to which the request went. It is never sent to another one, which might have the operation
    /// carried out a second time.
    sequencer: NodeId,
}

/// The operations that this node has begun.
#[derive(Default)]
pub(crate) struct Origin {
    next: OperationNumber,
    open: BTreeMap<OperationNumber, Open>,
    outcomes: BTreeMap<OperationNumber, Outcome>,
}

impl Origin {
    pub fn start(
        &mut self,
        context: &mut Context,
        disseminator: &mut Disseminator,
        set: NodeSet,
        operation: Operation,
    ) -> OperationNumber {
        let number = self.next;
        self.next = number.next();
        let sequencer = context.node;
        match operation {
            Operation::Xfer { at, bytes, event } if bytes.len() > context.settings.inline_bytes => {
                let operation =
                    Operation::Staged { at, length: bytes.len(), origin: context.node, number, event };
                self.open.insert(number, Open { set: set.clone(), operation, request: None, sequencer });
                disseminator.send(context, number, set, bytes);
                self.take_disseminated(context, disseminator);
            }
            operation => {
                self.open.insert(number, Open { set, operation, request: None, sequencer });
                self.request(context, number);
            }
        }
        number
    }

    /// Has an operation ordered.
    fn request(&mut self, context: &mut Context, number: OperationNumber) {
        let open = self.open.get_mut(&number).expect("begun by the caller");
        open.sequencer = context.sequencer();
        open.request = Some(Collector::new(&[open.sequencer], context));
        self.send_request(context, number);
    }

    fn send_request(&self, context: &mut Context, number: OperationNumber) {
        let settled = self.open.keys().next().copied().unwrap_or(number);
        let Open { set, operation, sequencer, .. } = &self.open[&number];
        let (set, operation) = (set.clone(), operation.clone());
        context.send(*sequencer, Body::Request { number, settled, set, operation });
    }

    /// Goes on with transfers whose data have arrived everywhere, or cannot.
    pub fn take_disseminated(&mut self, context: &mut Context, disseminator: &mut Disseminator) {
        for result in std::mem::take(&mut disseminator.results) {
            let (Dissemination::Complete(number) | Dissemination::Failed(number, _)) = result;
            if self.open.get(&number).is_none_or(|open| open.request.is_some()) {
                continue;
            }
            match result {
                Dissemination::Complete(_) => self.request(context, number),
                Dissemination::Failed(_, node) => self.fail(context, disseminator, number, node, true),
            }
        }
    }

    /// Ends an operation.
    pub fn conclude(
        &mut self,
        context: &mut Context,
        disseminator: &mut Disseminator,
        number: OperationNumber,
        outcome: Outcome,
    ) {
        if self.open.remove(&number).is_some() {
            disseminator.end(context, number);
            self.outcomes.insert(number, outcome);
        }
    }

    /// Ends an operation because a node does not answer.
    fn fail(
        &mut self,
        context: &mut Context,
        disseminator: &mut Disseminator,
        number: OperationNumber,
        node: NodeId,
        undone: bool,
    ) {
        let failure =
            if context.evicted.contains(&node) { NodeFailure::Evicted } else { NodeFailure::Silent };
        let error = OperationError { node, failure, undone };
        self.conclude(context, disseminator, number, Err(error));
    }

    /// The outcome of an operation, once; None while it is under way.
    pub fn take_outcome(&mut self, number: OperationNumber) -> Option<Outcome> {
        self.outcomes.remove(&number)
    }

    /// All outcomes that have not been taken.
    pub fn take_outcomes(&mut self) -> BTreeMap<OperationNumber, Outcome> {
        std::mem::take(&mut self.outcomes)
    }

    /// Repeats requests, and gives up those to a silent sequencer.
    pub fn tick(&mut self, context: &mut Context, disseminator: &mut Disseminator) {
        self.take_disseminated(context, disseminator);
        let mut due = Vec::new();
        let mut failed = Vec::new();
        for (&number, open) in &mut self.open {
            let Some(request) = &mut open.request else { continue };
            if !request.due(context).is_empty() {
                due.push(number);
            }
            if request.is_complete() {
                failed.push((number, open.sequencer));
            }
        }
        for number in due {
            self.send_request(context, number);
        }
        for (number, sequencer) in failed {
            self.fail(context, disseminator, number, sequencer, false);
        }
    }

    /// Another node orders from now on. It is not asked for what the last sequencer was asked for, since that
    /// may have been carried out. If this node was the last sequencer, it brings its operations to their end,
    /// and will know.
    pub fn change_view(&mut self, context: &mut Context, disseminator: &mut Disseminator) {
        let requested: Vec<(OperationNumber, NodeId)> = self
            .open
            .iter()
            .filter(|(_, open)| open.request.is_some() && open.sequencer != context.node)
            .map(|(&number, open)| (number, open.sequencer))
            .collect();
        for (number, sequencer) in requested {
            self.fail(context, disseminator, number, sequencer, false);
        }
    }

    /// Whether the sequencer has not answered for half of the limit.
    pub fn has_waited_long(&self, context: &Context) -> bool {
        let requests = self.open.values().filter_map(|open| open.request.as_ref());
        let since = requests.filter_map(Collector::waiting_since).min();
        since.is_some_and(|since| context.is_quiet(context.sequencer(), since))
    }

    /// When `tick` has to be called next.
    pub fn next_due(&self) -> Option<Duration> {
        self.open.values().filter_map(|open| open.request.as_ref().and_then(Collector::next_due)).min()
    }
}
