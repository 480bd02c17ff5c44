//! The first phase: a node votes, together with the nodes below it.

use super::records::{Participant, Progress, Record, Voting};
use crate::collector::Collector;
use crate::context::Context;
use crate::message::{Body, Prepare, TransferKey, Vote};
use crate::operation::Operation;
use crate::tree::children;
use crate::view::Viewstamp;
use evenkeel_fabric::NodeId;

/// This node's own view of an operation.
struct Examination {
    vote: Vote,
    /// Data that were sent ahead.
    data: Vec<u8>,
}

fn examine(context: &mut Context, operation: &Operation) -> Examination {
    let mut data = Vec::new();
    let vote = match operation {
        Operation::Xfer { .. } => Vote::Yes,
        Operation::Staged { length, origin, number, .. } => {
            for half in [0, 1] {
                let key = TransferKey { origin: *origin, number: *number, half };
                data.append(&mut context.staged.remove(&key).unwrap_or_default());
            }
            // Data are lacking if nothing was heard of them for so long that they were dropped.
            let are_lacking = data.len() != *length && context.settings.rules.data_first;
            if are_lacking { Vote::Refused(context.node) } else { Vote::Yes }
        }
        Operation::Compare { variable, comparison, value, .. } => {
            if comparison.holds(context.memory.load(*variable), *value) { Vote::Yes } else { Vote::No }
        }
    };
    Examination { vote, data }
}

impl Participant {
    /// The sequencer, or a node above this one, asks for a vote.
    pub fn prepare(&mut self, context: &mut Context, from: NodeId, prepare: Prepare) {
        let stamp = prepare.stamp;
        self.forget(prepare.horizon);
        if let Some(record) = self.records.get_mut(&stamp) {
            if let Some(voting) = &mut record.voting {
                voting.parent = from;
                let answer = voting.sent.map_or(Body::Busy { stamp }, |vote| Body::Vote { stamp, vote });
                context.send(from, answer);
            } else {
                context.send(from, Body::Vote { stamp, vote: Vote::Refused(context.node) });
            }
            return;
        }
        if stamp < self.horizon(stamp) {
            return;
        }
        if stamp.view() < *context.view && context.settings.rules.old_views_are_refused {
            context.send(from, Body::Vote { stamp, vote: Vote::Refused(context.node) });
            return context.send(context.sequencer_of(stamp), Body::NewView { view: *context.view });
        }
        let votes = self.ask_children(context, &prepare);
        let mut record = Record::new(prepare.set, Some(prepare.operation), Progress::Blocked, context.now);
        record.voting = Some(Voting { parent: from, votes, sent: None });
        self.records.insert(stamp, record);
        self.vote_if_possible(context, stamp);
        self.send_vote(context, stamp);
    }

    fn ask_children(&self, context: &mut Context, prepare: &Prepare) -> Collector<Vote> {
        let Prepare { stamp, set, operation, .. } = prepare;
        let sequencer = context.sequencer_of(*stamp);
        // The sequencer asks itself as one of the nodes below it, and asks the others as the sequencer.
        let down = if context.node == sequencer {
            Vec::new()
        } else {
            children(set, sequencer, context.node, context.settings.fanout)
        };
        let horizon = self.horizon(*stamp);
        for &child in &down {
            let (stamp, set, operation) = (*stamp, set.clone(), operation.clone());
            context.send(child, Body::Prepare(Prepare { stamp, horizon, set, operation }));
        }
        Collector::new(&down, context)
    }

    /// Forms this node's own vote, unless that depends on operations that are in doubt.
    pub(super) fn vote_if_possible(&mut self, context: &mut Context, stamp: Viewstamp) {
        let operation = self.records[&stamp].operation.clone().expect("only known operations are voted on");
        let is_in_the_way = |(&other, record): (&Viewstamp, &Record)| {
            other != stamp
                && record.progress.is_in_doubt()
                && record.operation.as_ref().is_some_and(|other| other.conflicts_with(&operation))
        };
        if context.settings.rules.reads_wait && self.records.iter().any(is_in_the_way) {
            return;
        }
        let Examination { vote, data } = examine(context, &operation);
        let record = self.records.get_mut(&stamp).expect("looked at above");
        record.since = context.now;
        record.data = data;
        record.own_vote = Some(vote);
        record.progress = match (operation.writes(), vote) {
            (false, _) => Progress::Compared,
            (true, Vote::Yes) => Progress::Prepared,
            (true, _) => Progress::Aborted,
        };
        if record.progress == Progress::Prepared && !context.settings.rules.all_or_none {
            self.settle(context, stamp, true);
        }
    }

    /// Sends the vote of this part of the tree up, once there is one.
    pub(super) fn send_vote(&mut self, context: &mut Context, stamp: Viewstamp) {
        let Some(record) = self.records.get_mut(&stamp) else { return };
        let (Some(own), Some(voting)) = (record.own_vote, &mut record.voting) else { return };
        if voting.sent.is_some() {
            return;
        }
        let silent = voting.votes.silent.iter().map(|&node| Vote::Silent(node));
        let votes = voting.votes.answers.iter().map(|&(_, vote)| vote).chain(silent);
        let vote = votes.fold(own, Vote::and);
        // One node that does not agree is enough to say no; to say yes, all are needed.
        if vote != Vote::Yes || voting.votes.is_complete() {
            voting.sent = Some(vote);
            context.send(voting.parent, Body::Vote { stamp, vote });
        }
    }

    /// A node below this one has voted.
    pub fn add_vote(&mut self, context: &mut Context, from: NodeId, stamp: Viewstamp, vote: Vote) {
        if let Some(voting) = self.records.get_mut(&stamp).and_then(|record| record.voting.as_mut()) {
            voting.votes.add(from, vote);
            self.send_vote(context, stamp);
        }
    }
}
