//! Requests of the origins: each is queued once, in the order of its origin's numbers, and has one outcome.

use super::queue::{Request, Sequencer};
use crate::context::Context;
use crate::message::Body;
use crate::node_set::NodeSet;
use crate::operation::{Operation, OperationNumber};
use crate::outcome::{NodeFailure, OperationError, Outcome};
use crate::view::Viewstamp;
use evenkeel_fabric::NodeId;

/// This node was cut off before it could have the operation carried out.
fn not_ordered(context: &Context) -> Outcome {
    Err(OperationError { node: context.node, failure: NodeFailure::CutOff, undone: true })
}

impl Sequencer {
    /// An origin wants an operation ordered. It needs no outcome of those with numbers below `settled`
    /// any more.
    pub fn request(
        &mut self,
        context: &mut Context,
        from: NodeId,
        number: OperationNumber,
        settled: OperationNumber,
        set: NodeSet,
        operation: Operation,
    ) {
        let origin = self.origins.entry(from).or_default();
        origin.outcomes.retain(|&number, _| number >= settled);
        if number < settled {
            return;
        }
        if let Some(outcome) = origin.outcomes.get(&number) {
            return context.send(from, Body::Outcome { number, outcome: outcome.clone() });
        }
        if number < origin.next {
            let is_known = self.ongoing.values().any(|ongoing| ongoing.request.is(from, number))
                || self.queue.iter().any(|request| request.is(from, number));
            // If it had been carried out, its outcome would be known: it was refused before it came.
            let refused = Body::Outcome { number, outcome: not_ordered(context) };
            return context.send(from, if is_known { Body::Underway { number } } else { refused });
        }
        context.send(from, Body::Underway { number });
        origin.early.insert(number, (set, operation));
        // An operation that the origin has given up, and of which this node never heard, leaves a gap.
        origin.next = origin.next.max(settled);
        origin.early.retain(|&number, _| number >= origin.next);
        while let Some((set, operation)) = origin.early.remove(&origin.next) {
            self.queue.push_back(Request { origin: from, number: origin.next, set, operation });
            origin.next = origin.next.next();
        }
        self.start_ready(context);
    }

    /// Whether an operation was requested while this node ordered; then this node knows its outcome.
    pub fn knows(&self, from: NodeId, number: OperationNumber) -> bool {
        self.origins.get(&from).is_some_and(|origin| number < origin.next)
    }

    /// Refuses an operation that is not known here. It will never be ordered here, even if the request comes
    /// once more.
    pub fn refuse(
        &mut self,
        context: &mut Context,
        from: NodeId,
        number: OperationNumber,
        because_of: NodeId,
    ) {
        let outcome = Err(OperationError { node: because_of, failure: NodeFailure::Silent, undone: true });
        let origin = self.origins.entry(from).or_default();
        origin.next = origin.next.max(number.next());
        origin.early.retain(|&early, _| early > number);
        origin.outcomes.insert(number, outcome.clone());
        context.send(from, Body::Outcome { number, outcome });
    }

    /// Another node orders from now on. Operations that were not started never will be here; those under way
    /// are brought to their end.
    pub fn step_down(&mut self, context: &mut Context) {
        for Request { origin, number, .. } in std::mem::take(&mut self.queue) {
            let outcome = not_ordered(context);
            self.origins.entry(origin).or_default().outcomes.insert(number, outcome.clone());
            context.send(origin, Body::Outcome { number, outcome });
        }
        self.origins.values_mut().for_each(|origin| origin.early.clear());
    }

    /// Tells the origin the outcome of an operation under way, once.
    pub(super) fn answer(&mut self, context: &mut Context, stamp: Viewstamp, outcome: Outcome) {
        let ongoing = self.ongoing.get_mut(&stamp).expect("only operations under way are answered");
        if !std::mem::replace(&mut ongoing.is_answered, true) {
            let (origin, number) = (ongoing.request.origin, ongoing.request.number);
            self.origins.entry(origin).or_default().outcomes.insert(number, outcome.clone());
            context.send(origin, Body::Outcome { number, outcome });
        }
    }
}
