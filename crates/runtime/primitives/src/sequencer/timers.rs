//! What the sequencer does as time passes: it repeats requests, and tells decisions to nodes that missed
//! them.

use super::queue::Sequencer;
use crate::context::Context;
use crate::message::{Body, Decide, Prepare};
use crate::view::Viewstamp;
use std::time::Duration;

impl Sequencer {
    /// Does what is due.
    pub fn tick(&mut self, context: &mut Context) {
        for stamp in self.ongoing.keys().copied().collect::<Vec<_>>() {
            self.repeat(context, stamp);
        }
        let horizon = self.horizon();
        for (&stamp, unacknowledged) in &mut self.unacknowledged {
            unacknowledged.missing.retain(|node| !context.evicted.contains(node));
            if unacknowledged.next > context.now {
                continue;
            }
            unacknowledged.next = context.now + context.settings.limit;
            let commit = unacknowledged.commit != Some(false);
            for &node in &unacknowledged.missing {
                let set = unacknowledged.set.clone();
                context.send(node, Body::Decide(Decide { stamp, horizon, set, commit, direct: true }));
            }
        }
        self.unacknowledged.retain(|_, unacknowledged| !unacknowledged.missing.is_empty());
    }

    /// Repeats the requests of one operation to nodes that have not answered.
    fn repeat(&mut self, context: &mut Context, stamp: Viewstamp) {
        let horizon = self.horizon();
        let Some(ongoing) = self.ongoing.get_mut(&stamp) else { return };
        let set = ongoing.request.set.clone();
        if let Some(decision) = &mut ongoing.decision {
            for node in decision.acks.due(context) {
                let (set, commit, direct) = (set.clone(), decision.commit, decision.direct);
                context.send(node, Body::Decide(Decide { stamp, horizon, set, commit, direct }));
            }
            self.conclude(context, stamp);
        } else {
            for node in ongoing.votes.due(context) {
                let (set, operation) = (set.clone(), ongoing.request.operation.clone());
                context.send(node, Body::Prepare(Prepare { stamp, horizon, set, operation }));
            }
            self.count_votes(context, stamp);
        }
    }

    /// When `tick` has to be called next.
    pub fn next_due(&self) -> Option<Duration> {
        let ongoing = self.ongoing.values().filter_map(|ongoing| match &ongoing.decision {
            Some(decision) => decision.acks.next_due(),
            None => ongoing.votes.next_due(),
        });
        ongoing.chain(self.unacknowledged.values().map(|unacknowledged| unacknowledged.next)).min()
    }
}
