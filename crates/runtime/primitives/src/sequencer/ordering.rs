//! Starting operations in an order, and counting the votes.

use super::queue::{Ongoing, Request, Sequencer};
use crate::collector::Collector;
use crate::context::Context;
use crate::message::{Body, Prepare, Vote};
use crate::outcome::{NodeFailure, OperationError};
use crate::tree::children;
use crate::view::Viewstamp;
use evenkeel_fabric::NodeId;
use std::collections::VecDeque;

impl Sequencer {
    /// Starts queued operations that need not wait any longer. None overtakes one with which it conflicts.
    pub(super) fn start_ready(&mut self, context: &mut Context) {
        let mut waiting: VecDeque<Request> = VecDeque::new();
        while let Some(request) = self.queue.pop_front() {
            let must_wait = self.ongoing.values().any(|ongoing| ongoing.request.conflicts_with(&request))
                || waiting.iter().any(|other| other.conflicts_with(&request));
            if must_wait && context.settings.rules.conflicts_wait {
                waiting.push_back(request);
            } else {
                self.start(context, request);
            }
        }
        self.queue = waiting;
    }

    fn start(&mut self, context: &mut Context, request: Request) {
        let stamp = self.next;
        self.next = stamp.next();
        let mut asked = children(&request.set, context.node, context.node, context.settings.fanout);
        if request.set.contains(context.node) {
            asked.push(context.node);
        }
        let horizon = self.horizon().min(stamp);
        for &node in &asked {
            let (set, operation) = (request.set.clone(), request.operation.clone());
            context.send(node, Body::Prepare(Prepare { stamp, horizon, set, operation }));
        }
        let votes = Collector::new(&asked, context);
        self.ongoing.insert(stamp, Ongoing { request, votes, is_answered: false, decision: None });
    }

    /// A node has voted, together with those below it.
    pub fn add_vote(&mut self, context: &mut Context, from: NodeId, stamp: Viewstamp, vote: Vote) {
        let undecided = self.ongoing.get_mut(&stamp).filter(|ongoing| ongoing.decision.is_none());
        if let Some(ongoing) = undecided {
            ongoing.votes.add(from, vote);
            self.count_votes(context, stamp);
        }
    }

    /// Decides, if the votes so far allow it.
    pub(super) fn count_votes(&mut self, context: &mut Context, stamp: Viewstamp) {
        let Ongoing { votes, request, .. } = &self.ongoing[&stamp];
        let writes = request.operation.writes();
        let silent = votes.silent.iter().map(|&node| Vote::Silent(node));
        let all = votes.answers.iter().map(|&(_, vote)| vote).chain(silent);
        let failed = |node, failure| Err(OperationError { node, failure, undone: true });
        let outcome = match all.fold(Vote::Yes, Vote::and) {
            Vote::Yes if !votes.is_complete() => return,
            Vote::Yes if writes => return self.decide(context, stamp, true),
            Vote::Yes => Ok(true),
            Vote::No => Ok(false),
            Vote::Refused(node) => failed(node, NodeFailure::CutOff),
            Vote::Silent(node) if context.evicted.contains(&node) => failed(node, NodeFailure::Evicted),
            Vote::Silent(node) => failed(node, NodeFailure::Silent),
        };
        self.answer(context, stamp, outcome);
        if writes {
            self.decide(context, stamp, false);
        } else {
            self.ongoing.remove(&stamp);
            self.start_ready(context);
        }
    }
}
