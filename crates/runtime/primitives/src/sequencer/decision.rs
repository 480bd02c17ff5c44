//! Telling nodes a decision, and collecting what became of it.

use super::queue::{Decision, Sequencer, Unacknowledged};
use crate::collector::Collector;
use crate::context::Context;
use crate::message::{Ack, Body, Decide, Knowledge};
use crate::node_set::NodeSet;
use crate::outcome::{NodeFailure, OperationError};
use crate::tree::{children, subtree};
use crate::view::Viewstamp;
use evenkeel_fabric::NodeId;
use std::collections::BTreeSet;

impl Sequencer {
    pub(super) fn decide(&mut self, context: &mut Context, stamp: Viewstamp, commit: bool) {
        let horizon = self.horizon();
        let ongoing = self.ongoing.get_mut(&stamp).expect("only operations under way are decided");
        let set = &ongoing.request.set;
        let down = children(set, context.node, context.node, context.settings.fanout);
        for &node in &down {
            let set = set.clone();
            context.send(node, Body::Decide(Decide { stamp, horizon, set, commit, direct: false }));
        }
        ongoing.decision = Some(Decision {
            commit,
            acks: Collector::new(&down, context),
            direct: false,
            // Alone in the set, this node cannot be overruled.
            applied: commit && down.is_empty(),
            overruled: false,
            missing: BTreeSet::new(),
            is_known_here: !set.contains(context.node),
        });
        self.conclude(context, stamp);
    }

    /// A node says what became of a decision, there and below.
    pub fn add_ack(&mut self, context: &mut Context, from: NodeId, stamp: Viewstamp, ack: Ack) {
        let ongoing = self.ongoing.get_mut(&stamp);
        if let Some(decision) = ongoing.and_then(|ongoing| ongoing.decision.as_mut()) {
            // What a node says of itself alone is no answer for the nodes below it.
            if (decision.direct || !ack.direct) && decision.acks.add(from, ack) {
                self.conclude(context, stamp);
            }
        } else if let Some(unacknowledged) = self.unacknowledged.get_mut(&stamp) {
            unacknowledged.missing.remove(&from);
            if unacknowledged.commit.is_none() && (ack.applied || ack.overruled) {
                let commit = ack.applied;
                unacknowledged.commit = Some(commit);
                context.send(context.node, Body::FinalDecision { stamp, commit });
            }
            if unacknowledged.missing.is_empty() {
                self.unacknowledged.remove(&stamp);
            }
        }
    }

    /// Goes on with a decision as far as the acknowledgements allow.
    pub(super) fn conclude(&mut self, context: &mut Context, stamp: Viewstamp) {
        let horizon = self.horizon();
        let ongoing = self.ongoing.get_mut(&stamp).expect("only operations under way are concluded");
        let set = ongoing.request.set.clone();
        let decision = ongoing.decision.as_mut().expect("it has been decided");
        decision.take_answers();
        let final_decision = decision.final_decision();
        if let (Some(commit), false) = (final_decision, decision.is_known_here) {
            decision.is_known_here = true;
            context.send(context.node, Body::FinalDecision { stamp, commit });
        }
        if !decision.acks.is_complete() {
            return;
        }
        decision.take_silent(context, &set);
        if !decision.direct && !decision.missing.is_empty() {
            decision.tell_directly(context, stamp, horizon, &set);
            return;
        }
        let missing = std::mem::take(&mut decision.missing);
        self.finish(context, stamp, set, final_decision, missing);
    }

    fn finish(
        &mut self,
        context: &mut Context,
        stamp: Viewstamp,
        set: NodeSet,
        commit: Option<bool>,
        missing: BTreeSet<NodeId>,
    ) {
        let failed = |failure, undone| {
            let node = missing.first().copied().unwrap_or(context.node);
            Err(OperationError { node, failure, undone })
        };
        let outcome = match commit {
            Some(true) => Ok(true),
            // The origin was told already, unless the nodes have overruled this decision.
            Some(false) => failed(NodeFailure::CutOff, true),
            None => failed(NodeFailure::Silent, false),
        };
        self.answer(context, stamp, outcome);
        self.ongoing.remove(&stamp);
        let missing: BTreeSet<NodeId> =
            missing.into_iter().filter(|node| !context.evicted.contains(node)).collect();
        if !missing.is_empty() {
            let next = context.now + context.settings.limit;
            self.unacknowledged.insert(stamp, Unacknowledged { set, missing, commit, next });
        }
        self.start_ready(context);
    }

    /// A node is in doubt about an operation.
    pub fn inquire(&mut self, context: &mut Context, from: NodeId, stamp: Viewstamp) {
        let horizon = self.horizon();
        let tell = |final_decision: Option<bool>, set: &NodeSet| match final_decision {
            Some(commit) => Body::FinalDecision { stamp, commit },
            None => {
                let set = set.clone();
                Body::Decide(Decide { stamp, horizon, set, commit: true, direct: true })
            }
        };
        let answer = if let Some(ongoing) = self.ongoing.get(&stamp) {
            match &ongoing.decision {
                None => Body::InquiryAnswer { stamp, knowledge: Knowledge::Pending },
                Some(decision) => tell(decision.final_decision(), &ongoing.request.set),
            }
        } else if let Some(unacknowledged) = self.unacknowledged.get(&stamp) {
            tell(unacknowledged.commit, &unacknowledged.set)
        } else {
            // The node has not heard of the end. Had the operation been carried out, that would be known
            // above.
            Body::FinalDecision { stamp, commit: false }
        };
        context.send(from, answer);
    }
}

impl Decision {
    fn take_answers(&mut self) {
        for (_, ack) in self.acks.answers.drain(..) {
            self.applied |= ack.applied;
            self.overruled |= ack.overruled;
            self.missing.extend(ack.missing);
        }
    }

    /// Silent nodes are missing; and if they were to pass the decision on, so are all nodes below them.
    fn take_silent(&mut self, context: &Context, set: &NodeSet) {
        for silent in std::mem::take(&mut self.acks.silent) {
            if self.direct {
                self.missing.insert(silent);
            } else {
                self.missing.extend(subtree(set, context.node, silent, context.settings.fanout));
            }
        }
    }

    /// Some nodes are out of reach because a node above them in the tree is: tells each of them directly.
    fn tell_directly(&mut self, context: &mut Context, stamp: Viewstamp, horizon: Viewstamp, set: &NodeSet) {
        self.direct = true;
        let missing: Vec<NodeId> = std::mem::take(&mut self.missing).into_iter().collect();
        for &node in &missing {
            let (set, commit) = (set.clone(), self.commit);
            context.send(node, Body::Decide(Decide { stamp, horizon, set, commit, direct: true }));
        }
        self.acks = Collector::new(&missing, context);
    }
}
