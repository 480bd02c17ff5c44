//! Cooperative termination: nodes that are in doubt about an operation settle it without the sequencer.

use super::records::{Participant, Progress, Record};
use crate::context::Context;
use crate::message::{Body, Knowledge};
use crate::node_set::NodeSet;
use crate::view::Viewstamp;
use evenkeel_fabric::NodeId;
use std::time::Duration;

impl Participant {
    /// Another node is in doubt about an operation, and asks what this one knows.
    pub fn inquire(&mut self, context: &mut Context, from: NodeId, stamp: Viewstamp) {
        let hears_sequencer = !context.is_silent(context.sequencer_of(stamp), Duration::ZERO);
        let knowledge = match self.records.get(&stamp).map(|record| record.progress) {
            None if stamp < self.horizon(stamp) => Knowledge::Forgotten,
            Some(Progress::Applied) => Knowledge::Applied,
            Some(Progress::Aborted | Progress::Compared) => Knowledge::Aborted,
            Some(Progress::Terminating) => Knowledge::Terminating,
            _ if hears_sequencer => Knowledge::Pending,
            Some(Progress::Prepared) => {
                self.records.get_mut(&stamp).expect("looked at above").progress = Progress::Terminating;
                Knowledge::Terminating
            }
            Some(Progress::Blocked) => {
                self.settle(context, stamp, false);
                Knowledge::Aborted
            }
            // This node was never asked for its vote, and will refuse it from now on.
            None => {
                let record = Record::new(NodeSet::default(), None, Progress::Aborted, context.now);
                self.records.insert(stamp, record);
                Knowledge::Aborted
            }
        };
        context.send(from, Body::InquiryAnswer { stamp, knowledge });
    }

    /// Another node answers this node's inquiry.
    pub fn inquiry_answered(
        &mut self,
        context: &mut Context,
        from: NodeId,
        stamp: Viewstamp,
        knowledge: Knowledge,
    ) {
        let Some(record) = self.records.get_mut(&stamp).filter(|record| record.progress.is_in_doubt()) else {
            return;
        };
        record.answers.insert(from, knowledge);
        match knowledge {
            Knowledge::Applied => self.settle(context, stamp, true),
            Knowledge::Aborted => self.settle(context, stamp, false),
            _ => self.abort_if_all_terminate(context, stamp),
        }
    }

    /// If all nodes are terminating, none has carried the operation out.
    fn abort_if_all_terminate(&mut self, context: &mut Context, stamp: Viewstamp) {
        let record = &self.records[&stamp];
        let terminates = |node: NodeId| {
            node == context.node
                || node == context.sequencer_of(stamp)
                || context.evicted.contains(&node)
                || record.answers.get(&node) == Some(&Knowledge::Terminating)
        };
        if record.progress == Progress::Terminating && record.set.iter().all(terminates) {
            self.settle(context, stamp, false);
        }
    }

    /// The sequencer's final decision. It agrees with what nodes have settled among themselves; see
    /// [`sequencer`](crate::sequencer).
    pub fn decide_finally(&mut self, context: &mut Context, stamp: Viewstamp, commit: bool) {
        let Some(progress) = self.records.get(&stamp).map(|record| record.progress) else { return };
        if progress.is_in_doubt() || (progress == Progress::Blocked && !commit) {
            self.settle(context, stamp, commit);
        }
    }

    /// Inquires about an operation that has been in doubt for long: of the sequencer, and once that is
    /// silent, of all nodes of the set.
    pub(super) fn resolve_doubt(&mut self, context: &mut Context, stamp: Viewstamp) {
        let sequencer = context.sequencer_of(stamp);
        let record = self.records.get_mut(&stamp).expect("looked at by the caller");
        if context.now < record.since + context.settings.limit / 2
            || context.now < record.next_inquiry
            || context.node == sequencer
        {
            return;
        }
        record.next_inquiry = context.now + context.settings.limit / 8;
        context.send(sequencer, Body::Inquiry { stamp });
        if context.is_silent(sequencer, record.since) {
            record.progress = Progress::Terminating;
            let others = record.set.iter().filter(|&node| node != context.node && node != sequencer);
            for other in others.collect::<Vec<NodeId>>() {
                context.send(other, Body::Inquiry { stamp });
            }
            self.abort_if_all_terminate(context, stamp);
        }
    }
}
