//! The blocking, or the nonblocking, collectives of one communicator on this node. They are taken from
//! the call queue in order and finished in any order.

use crate::communicator::collective::CollectiveUnderWay;
use crate::communicator::forwarding::{ForwardedBroadcasts, check_agreement};
use crate::communicator::global_minimum::{CountMessage, GlobalMinimum};
use crate::communicator::run_ahead::RunAheadLimit;
use crate::error::AgentError;
use crate::exchange::schedule::ScheduleCache;
use crate::message::{Content, Count, OutgoingMessage, StepMessage, Stream};
use evenkeel_engine::spanning::agent_member::AgentMember;
use evenkeel_spanning::{NodePosition, PieceDescription};
use std::collections::{HashMap, VecDeque};

/// One call stream.
pub struct CallStream {
    /// The agent as a member of the communicator.
    pub member: AgentMember,
    stream: Stream,
    /// The first collective of the call queue, if it has not claimed all its instances yet.
    claiming: Option<CollectiveUnderWay>,
    under_way: VecDeque<CollectiveUnderWay>,
    /// Steps of collectives that no rank here has called, by number. There are no more of these collectives
    /// than other nodes may run ahead.
    early: HashMap<u64, Vec<StepMessage>>,
    /// Of the same, those that this node forwards.
    forwarded: ForwardedBroadcasts,
    schedules: ScheduleCache,
    run_ahead: RunAheadLimit,
}

impl CallStream {
    /// `begun_by_all`: this node's part in finding out how many collectives all nodes have begun.
    pub fn new(
        stream: Stream,
        member: AgentMember,
        schedules: ScheduleCache,
        begun_by_all: GlobalMinimum,
    ) -> CallStream {
        CallStream {
            member,
            stream,
            claiming: None,
            under_way: VecDeque::new(),
            early: HashMap::new(),
            forwarded: ForwardedBroadcasts::new(stream),
            schedules,
            run_ahead: RunAheadLimit::new(begun_by_all),
        }
    }

    /// Moves everything on. Whether anything happened. Adds what is to be sent to `out`.
    pub fn advance(
        &mut self,
        position: NodePosition<'_>,
        out: &mut Vec<OutgoingMessage>,
    ) -> Result<bool, AgentError> {
        let mut moved = self.take_calls(position)?;
        for collective in &mut self.under_way {
            moved |= collective.advance(&self.member, position, &mut self.schedules, out)?;
        }
        // Other nodes need not wait until there is room here, nor until the ranks here have called it.
        if let Some(collective) = &mut self.claiming {
            moved |= collective.forward(position, &mut self.schedules, out)?;
        }
        moved |= self.forwarded.advance(position, &mut self.schedules, out)?;
        let mut reports = Vec::new();
        self.run_ahead.report(&mut reports);
        self.send_reports(reports, out);
        while self.under_way.front().is_some_and(CollectiveUnderWay::is_done) {
            self.under_way.pop_front();
        }
        Ok(moved)
    }

    /// Takes calls from the queue, as far as there is room for them. Whether there were any.
    fn take_calls(&mut self, position: NodePosition<'_>) -> Result<bool, AgentError> {
        let mut moved = false;
        loop {
            let mut collective = match self.claiming.take() {
                Some(collective) => collective,
                None => match self.begin_next(position)? {
                    Some(collective) => collective,
                    None => return Ok(moved),
                },
            };
            if !collective.claim(&self.member) {
                self.claiming = Some(collective);
                return Ok(moved);
            }
            self.under_way.push_back(collective);
            self.run_ahead.begin_next();
            self.member.take_call();
            moved = true;
        }
    }

    /// The next collective of the call queue, with what has been done of it already; None if there is
    /// none, or if other nodes are too far behind.
    fn begin_next(&mut self, position: NodePosition<'_>) -> Result<Option<CollectiveUnderWay>, AgentError> {
        if self.run_ahead.is_reached() {
            return Ok(None);
        }
        let Some(call) = self.member.next_call() else { return Ok(None) };
        let description = call.map_err(|words| AgentError::UnknownCall { words })?;
        let number = self.run_ahead.next();
        let begin = |early: &mut HashMap<u64, Vec<StepMessage>>| {
            let early = early.remove(&number).unwrap_or_default();
            CollectiveUnderWay::new(self.stream, number, description, position, early)
        };
        let forwarded = self.forwarded.take(number, description)?;
        Ok(Some(forwarded.unwrap_or_else(|| begin(&mut self.early))))
    }

    /// Another node reports how many collectives it and others have begun. Adds what is to be sent on to
    /// `out`.
    pub fn receive_report(&mut self, from: usize, count: Count, out: &mut Vec<OutgoingMessage>) {
        let mut reports = Vec::new();
        self.run_ahead.receive(from, count, &mut reports);
        self.send_reports(reports, out);
    }

    fn send_reports(&self, reports: Vec<CountMessage>, out: &mut Vec<OutgoingMessage>) {
        let message =
            |CountMessage { to, count }| OutgoingMessage { to, content: Content::Begun(self.stream, count) };
        out.extend(reports.into_iter().map(message));
    }

    /// Takes a step from another node, with the description that came with it.
    pub fn receive_step(
        &mut self,
        number: u64,
        description: Option<PieceDescription>,
        step: StepMessage,
        position: NodePosition<'_>,
    ) -> Result<(), AgentError> {
        let is_uncalled = number >= self.run_ahead.next();
        let called = self
            .claiming
            .iter_mut()
            .chain(&mut self.under_way)
            .find(|collective| collective.number == number);
        match (&called, description) {
            (Some(called), Some(description)) => check_agreement(number, called.description, description)?,
            (None, Some(description)) if is_uncalled => {
                self.forwarded.begin(number, description, &mut self.early, position)?;
            }
            _ => {}
        }
        match called.or_else(|| self.forwarded.get_mut(number)) {
            Some(collective) => collective.receive(step),
            None => {
                if is_uncalled {
                    self.early.entry(number).or_default().push(step);
                }
                Ok(())
            }
        }
    }

    /// Whether there is nothing to do for the ranks here. What they have called is then done; other nodes may
    /// still need broadcasts that only pass through here.
    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty() && self.claiming.is_none() && self.member.next_call().is_none()
    }

    /// Whether the ranks here wait for other nodes.
    pub fn waits_for_others(&self) -> bool {
        let is_held_back = self.run_ahead.is_reached() && self.member.next_call().is_some();
        is_held_back || self.under_way.iter().any(CollectiveUnderWay::waits_for_others)
    }
}
