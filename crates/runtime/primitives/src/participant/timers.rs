//! What a participant does as time passes: it repeats requests, and resolves doubt.

use super::records::{Participant, Record};
use crate::context::Context;
use crate::message::{Body, Decide, Prepare};
use crate::view::Viewstamp;
use std::time::Duration;

impl Participant {
    /// Does what is due.
    pub fn tick(&mut self, context: &mut Context) {
        for stamp in self.records.keys().copied().collect::<Vec<_>>() {
            self.repeat_prepare(context, stamp);
            self.repeat_decide(context, stamp);
            if self.records.get(&stamp).is_some_and(|record| record.progress.is_in_doubt()) {
                self.resolve_doubt(context, stamp);
            }
        }
    }

    fn repeat_prepare(&mut self, context: &mut Context, stamp: Viewstamp) {
        let horizon = self.horizon(stamp);
        let Some(record) = self.records.get_mut(&stamp) else { return };
        let (Some(voting), Some(operation)) = (&mut record.voting, &record.operation) else { return };
        for child in voting.votes.due(context) {
            let (set, operation) = (record.set.clone(), operation.clone());
            context.send(child, Body::Prepare(Prepare { stamp, horizon, set, operation }));
        }
        if !voting.votes.silent.is_empty() {
            self.send_vote(context, stamp);
        }
    }

    fn repeat_decide(&mut self, context: &mut Context, stamp: Viewstamp) {
        let horizon = self.horizon(stamp);
        let Some(record) = self.records.get_mut(&stamp) else { return };
        let Some(deciding) = &mut record.deciding else { return };
        let was_complete = deciding.acks.is_complete();
        for child in deciding.acks.due(context) {
            let (set, commit) = (record.set.clone(), deciding.commit);
            context.send(child, Body::Decide(Decide { stamp, horizon, set, commit, direct: false }));
        }
        if deciding.acks.is_complete() && !was_complete {
            self.acknowledge(context, stamp);
        }
    }

    /// When `tick` has to be called next. `orders`: whether this node itself ordered an operation; then
    /// it makes no inquiries about it.
    pub fn next_due(&self, limit: Duration, orders: impl Fn(Viewstamp) -> bool) -> Option<Duration> {
        let of = |(&stamp, record): (&Viewstamp, &Record)| {
            let inquires = record.progress.is_in_doubt() && !orders(stamp);
            let inquiry = inquires.then(|| record.next_inquiry.max(record.since + limit / 2));
            let voting = record.voting.as_ref().and_then(|voting| voting.votes.next_due());
            let deciding = record.deciding.as_ref().and_then(|deciding| deciding.acks.next_due());
            [inquiry, voting, deciding].into_iter().flatten().min()
        };
        self.records.iter().filter_map(of).min()
    }
}
