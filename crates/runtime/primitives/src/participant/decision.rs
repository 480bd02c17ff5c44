//! The second phase: a node carries an operation out or aborts it, and says so together with the nodes
//! below it.

use super::records::{Deciding, Participant, Progress, Record};
use crate::collector::Collector;
use crate::context::Context;
use crate::message::{Ack, Body, Decide, Vote};
use crate::operation::{EventId, Operation};
use crate::tree::{children, subtree};
use crate::view::Viewstamp;
use evenkeel_fabric::NodeId;

impl Participant {
    /// The sequencer has decided.
    pub fn decide(&mut self, context: &mut Context, from: NodeId, decide: Decide) {
        let Decide { stamp, commit, direct, .. } = decide;
        if !self.records.contains_key(&stamp) {
            if stamp < self.horizon(stamp) {
                // It is settled, acknowledged and forgotten, and the acknowledgement was lost. The sequencer
                // knows what became of it.
                return context.send(from, Body::Ack { stamp, ack: Ack { direct, ..Ack::default() } });
            }
            if commit {
                return; // cannot happen: an operation is carried out only with this node's vote
            }
            let record = Record::new(decide.set.clone(), None, Progress::Aborted, context.now);
            self.records.insert(stamp, record);
        }
        match self.records[&stamp].progress {
            Progress::Prepared => self.settle(context, stamp, commit),
            Progress::Blocked if !commit => self.settle(context, stamp, false),
            Progress::Terminating if !context.settings.rules.termination_binds => {
                self.settle(context, stamp, commit)
            }
            _ => {}
        }
        if direct {
            self.acknowledge_directly(context, from, stamp, commit);
        } else if !self.forward_decision(context, from, &decide) {
            self.acknowledge(context, stamp);
        }
        self.forget(decide.horizon);
    }

    fn acknowledge_directly(&self, context: &mut Context, from: NodeId, stamp: Viewstamp, commit: bool) {
        let progress = self.records[&stamp].progress;
        let applied = progress == Progress::Applied;
        let ack = Ack { direct: true, applied, overruled: commit && !applied, missing: Vec::new() };
        let answer = if progress.is_settled() { Body::Ack { stamp, ack } } else { Body::Busy { stamp } };
        context.send(from, answer);
    }

    /// Passes a decision on to the nodes below, if that was not done before. True: some nodes were sent
    /// it now, so it is too early to acknowledge it. (The sender has just asked for the first time; it
    /// need not hear that this takes a while.)
    fn forward_decision(&mut self, context: &mut Context, from: NodeId, decide: &Decide) -> bool {
        let &Decide { stamp, commit, .. } = decide;
        let horizon = self.horizon(stamp);
        let record = self.records.get_mut(&stamp).expect("the caller has looked at it");
        if let Some(deciding) = &mut record.deciding {
            deciding.parent = from;
            return false;
        }
        let sequencer = context.sequencer_of(stamp);
        let down = if context.node == sequencer {
            Vec::new()
        } else {
            children(&decide.set, sequencer, context.node, context.settings.fanout)
        };
        for &child in &down {
            let set = decide.set.clone();
            context.send(child, Body::Decide(Decide { stamp, horizon, set, commit, direct: false }));
        }
        let acks = Collector::new(&down, context);
        record.deciding = Some(Deciding { parent: from, commit, acks });
        !down.is_empty()
    }

    /// Says what became of the decision in this part of the tree, or that this is not known yet.
    pub(super) fn acknowledge(&mut self, context: &mut Context, stamp: Viewstamp) {
        let Some(record) = self.records.get(&stamp) else { return };
        let Some(deciding) = &record.deciding else { return };
        if !record.progress.is_settled() || !deciding.acks.is_complete() {
            return context.send(deciding.parent, Body::Busy { stamp });
        }
        let applied = record.progress == Progress::Applied;
        let overruled = deciding.commit && !applied;
        let mut ack = Ack { direct: false, applied, overruled, missing: Vec::new() };
        for (_, other) in &deciding.acks.answers {
            ack.applied |= other.applied;
            ack.overruled |= other.overruled;
            ack.missing.extend(&other.missing);
        }
        let (sequencer, fanout) = (context.sequencer_of(stamp), context.settings.fanout);
        for &silent in &deciding.acks.silent {
            ack.missing.extend(subtree(&record.set, sequencer, silent, fanout));
        }
        context.send(deciding.parent, Body::Ack { stamp, ack });
    }

    /// A node below this one has acknowledged a decision.
    pub fn add_ack(&mut self, context: &mut Context, from: NodeId, stamp: Viewstamp, ack: Ack) {
        if let Some(deciding) = self.records.get_mut(&stamp).and_then(|record| record.deciding.as_mut()) {
            if deciding.acks.add(from, ack) && deciding.acks.is_complete() {
                self.acknowledge(context, stamp);
            }
        }
    }

    /// Carries an operation out on this node.
    fn apply(&self, context: &mut Context, stamp: Viewstamp) {
        let record = &self.records[&stamp];
        let mut write = |at: usize, bytes: &[u8], event: &Option<EventId>| {
            context.memory.write(at, bytes);
            if let Some(event) = event {
                *context.events.entry(*event).or_default() += 1;
            }
        };
        match record.operation.as_ref().expect("only operations that were voted on are carried out") {
            Operation::Xfer { at, bytes, event } => write(*at, bytes, event),
            Operation::Staged { at, event, .. } => write(*at, &record.data, event),
            Operation::Compare { write: Some(write), .. } => context.memory.store(write.at, write.value),
            Operation::Compare { write: None, .. } => {}
        }
    }

    /// Ends the doubt about an operation, and lets operations go on that had to wait for it.
    pub(super) fn settle(&mut self, context: &mut Context, stamp: Viewstamp, commit: bool) {
        if commit {
            self.apply(context, stamp);
        }
        let record = self.records.get_mut(&stamp).expect("only known operations are settled");
        record.progress = if commit { Progress::Applied } else { Progress::Aborted };
        record.data = Vec::new();
        if record.own_vote.is_none() {
            record.own_vote = Some(Vote::Refused(context.node));
        }
        if record.deciding.is_some() {
            self.acknowledge(context, stamp);
        }
        self.send_vote(context, stamp);
        let is_blocked = |record: &Record| record.progress == Progress::Blocked;
        let blocked: Vec<Viewstamp> =
            self.records.iter().filter(|(_, record)| is_blocked(record)).map(|(&stamp, _)| stamp).collect();
        for stamp in blocked {
            // Settling one of them may have settled another.
            if is_blocked(&self.records[&stamp]) {
                self.vote_if_possible(context, stamp);
                self.send_vote(context, stamp);
            }
        }
    }
}
