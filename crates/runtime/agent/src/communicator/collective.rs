//! One collective, as this node's agent carries it out: from the ranks here, over the network, to the ranks
//! here.
//!
//! [`evenkeel_spanning::stages`] says what it consists of: up, exchange, down.

use crate::error::AgentError;
use crate::exchange::run::{Reduction, ScheduleRun};
use crate::exchange::schedule::{ScheduleCache, ScheduleKey};
use crate::message::{Content, OutgoingMessage, StepMessage, Stream};
use bytes::Bytes;
use evenkeel_engine::collective::call::Combine;
use evenkeel_engine::reduction::operators;
use evenkeel_engine::spanning::agent_member::{AgentMember, ClaimedInstance};
use evenkeel_schedule::Rank;
use evenkeel_schedule::algorithms::exscan::RESULT;
use evenkeel_spanning::exchange::{padded, without_padding};
use evenkeel_spanning::stages::{NodeInput, stages};
use evenkeel_spanning::{CollectiveKind, NodePosition, PieceDescription, Stages};

/// How far a collective is.
enum Phase {
    /// The ranks here have to contribute first.
    AwaitingRanks,
    /// The agents exchange data.
    Exchanging(Box<ScheduleRun>),
    /// What has come of the exchange is for the ranks here.
    Exchanged(Bytes),
    Done,
}

/// In a scan: what the nodes before this one have, which is all that the ranks here need from other nodes. It
/// goes to them as soon as it arrives, whether or not they have contributed: no rank here waits for one that
/// is above it.
#[derive(Debug, PartialEq, Eq)]
enum Prefix {
    /// It has not arrived.
    Awaited,
    /// It has arrived and the ranks here have not got it.
    Arrived(Bytes),
    /// The ranks here have it, or need none.
    Settled,
}

/// A collective under way.
pub struct CollectiveUnderWay {
    /// Its number in its stream.
    pub number: u64,
    /// What it is.
    pub description: PieceDescription,
    stream: Stream,
    stages: Stages,
    /// Its instances among the ranks here, from when they are claimed to when they are left.
    up: Option<ClaimedInstance>,
    down: Option<ClaimedInstance>,
    phase: Phase,
    /// Steps that have come before the exchange began here.
    early: Vec<StepMessage>,
    prefix: Prefix,
}

impl CollectiveUnderWay {
    /// Collective `number` of a stream. `early`: steps that have come already.
    pub fn new(
        stream: Stream,
        number: u64,
        description: PieceDescription,
        position: NodePosition<'_>,
        early: Vec<StepMessage>,
    ) -> CollectiveUnderWay {
        let stages = stages(&description, position);
        let is_scan = matches!(description.kind, CollectiveKind::Scan | CollectiveKind::Exscan);
        let prefix = if is_scan && stages.down.is_some() { Prefix::Awaited } else { Prefix::Settled };
        let (up, down, phase) = (None, None, Phase::AwaitingRanks);
        let mut new = CollectiveUnderWay {
            stream,
            number,
            description,
            stages,
            up,
            down,
            phase,
            early: Vec::new(),
            prefix,
        };
        early.iter().for_each(|step| new.note_prefix(step));
        CollectiveUnderWay { early, ..new }
    }

    /// Claims its instances among the ranks here, in order. True when it has all; until then no later
    /// collective may claim any.
    pub fn claim(&mut self, member: &AgentMember) -> bool {
        for (stage, claimed) in [(self.stages.up, &mut self.up), (self.stages.down, &mut self.down)] {
            if let (Some(collective), None) = (stage, &claimed) {
                *claimed = member.claim(collective);
                if claimed.is_none() {
                    return false;
                }
            }
        }
        true
    }

    /// Whether nothing is left to do.
    pub fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }

    /// Whether it waits for other nodes.
    pub fn waits_for_others(&self) -> bool {
        matches!(self.phase, Phase::Exchanging(_)) || self.prefix == Prefix::Awaited
    }

    /// Takes a step from another node.
    pub fn receive(&mut self, step: StepMessage) -> Result<(), AgentError> {
        self.note_prefix(&step);
        match &mut self.phase {
            Phase::AwaitingRanks => self.early.push(step),
            Phase::Exchanging(run) => run.receive(step)?,
            Phase::Exchanged(_) | Phase::Done => {}
        }
        Ok(())
    }

    /// Keeps what a scan's ranks need, when it comes.
    fn note_prefix(&mut self, step: &StepMessage) {
        if step.flag == RESULT && self.prefix == Prefix::Awaited {
            self.prefix = Prefix::Arrived(step.data.clone());
        }
    }

    /// Moves on as far as possible, once all instances are claimed. Whether anything happened. Adds what
    /// is to be sent to `out`.
    pub fn advance(
        &mut self,
        member: &AgentMember,
        position: NodePosition<'_>,
        schedules: &mut ScheduleCache,
        out: &mut Vec<OutgoingMessage>,
    ) -> Result<bool, AgentError> {
        let mut moved = self.deliver_prefix(member);
        if let Phase::AwaitingRanks = self.phase {
            let Some(input) = self.input(member, position) else { return Ok(moved) };
            self.begin_exchange(position, schedules, input)?;
            moved = true;
        }
        moved |= self.advance_exchange(position, out);
        if let Phase::Exchanged(output) = &mut self.phase {
            let output = std::mem::take(output);
            self.phase = Phase::Done;
            // A scan's ranks have got the prefix already.
            if let Some(down) = self.down.take() {
                member.contribute(down, &without_padding(&self.description, position, &output));
            }
            moved = true;
        }
        Ok(moved)
    }

    /// Moves on with what needs nothing of the ranks here, which may not have called it yet: a broadcast from
    /// another node. Whether anything happened. Adds what is to be sent to `out`.
    pub fn forward(
        &mut self,
        position: NodePosition<'_>,
        schedules: &mut ScheduleCache,
        out: &mut Vec<OutgoingMessage>,
    ) -> Result<bool, AgentError> {
        let needs_no_ranks = self.stages.exchange.input == NodeInput::Nothing;
        if self.description.kind != CollectiveKind::Bcast || !needs_no_ranks {
            return Ok(false);
        }
        let begins = matches!(self.phase, Phase::AwaitingRanks);
        if begins {
            self.begin_exchange(position, schedules, Vec::new())?;
        }
        Ok(self.advance_exchange(position, out) || begins)
    }

    /// Gives the ranks here what a scan has of the nodes before. Whether it did.
    fn deliver_prefix(&mut self, member: &AgentMember) -> bool {
        let Prefix::Arrived(before) = &self.prefix else { return false };
        let down = self.down.take().expect("all instances are claimed");
        member.contribute(down, before);
        self.prefix = Prefix::Settled;
        true
    }

    /// What this node brings into the exchange; None while its ranks have not contributed it.
    fn input(&mut self, member: &AgentMember, position: NodePosition<'_>) -> Option<Vec<u8>> {
        let exchange = self.stages.exchange;
        match exchange.input {
            NodeInput::Contributions => {
                let up = self.up.take_if(|up| member.is_ready(up))?;
                let contributed = member.collect(up, self.operator(), exchange.input_bytes);
                Some(padded(&self.description, position, contributed, exchange.input_bytes))
            }
            NodeInput::Placeholder => {
                if let Some(up) = self.up.take() {
                    member.leave(up);
                }
                Some(vec![0; exchange.input_bytes])
            }
            NodeInput::Nothing => Some(Vec::new()),
        }
    }

    /// The reduction operator, with bytes of an element.
    fn operator(&self) -> Option<(Combine, usize)> {
        operators::numbered(self.description.operator)
    }

    fn begin_exchange(
        &mut self,
        position: NodePosition<'_>,
        schedules: &mut ScheduleCache,
        input: Vec<u8>,
    ) -> Result<(), AgentError> {
        let (exchange, operator) = (self.stages.exchange, self.operator());
        let element_bytes = operator.map_or(1, |(_, width)| width);
        let reduction = operator.map(|(combine, _)| Reduction {
            combine,
            input_is_missing: exchange.kind == CollectiveKind::Reduce
                && exchange.input == NodeInput::Placeholder,
        });
        let nodes = position.counts.nodes();
        let me = Rank(((position.node + nodes - exchange.first_node) % nodes) as u32);
        let schedule = schedules.schedule(ScheduleKey {
            kind: exchange.kind,
            root: exchange.root,
            elements: exchange.bytes / element_bytes,
            element_bytes,
        });
        let mut run = ScheduleRun::new(schedule, me, element_bytes, reduction, input);
        std::mem::take(&mut self.early).into_iter().try_for_each(|step| run.receive(step))?;
        self.phase = Phase::Exchanging(Box::new(run));
        Ok(())
    }

    /// Moves the exchange on; true if it has come to its end.
    fn advance_exchange(&mut self, position: NodePosition<'_>, out: &mut Vec<OutgoingMessage>) -> bool {
        let Phase::Exchanging(run) = &mut self.phase else { return false };
        let mut steps = Vec::new();
        let is_done = run.advance(&mut steps);
        let (nodes, first_node) = (position.counts.nodes(), self.stages.exchange.first_node);
        let is_broadcast = self.description.kind == CollectiveKind::Bcast;
        out.extend(steps.into_iter().map(|outgoing| OutgoingMessage {
            to: (outgoing.to.0 as usize + first_node) % nodes,
            content: Content::Step {
                stream: self.stream,
                number: self.number,
                // So that the receiver can forward it before its ranks have called it.
                description: (is_broadcast && outgoing.receiver_sends).then_some(self.description),
                step: outgoing.step,
            },
        }));
        if is_done {
            let Phase::Exchanging(run) = std::mem::replace(&mut self.phase, Phase::Done) else {
                unreachable!("the phase has just been matched")
            };
            self.phase = Phase::Exchanged(run.into_output());
        }
        is_done
    }

    /// What has come of an exchange that has ended and whose result the ranks here have not got.
    #[cfg(test)]
    pub fn into_result(self) -> Option<Bytes> {
        if let Phase::Exchanged(output) = self.phase { Some(output) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_schedule::{Flag, Place};
    use evenkeel_spanning::{Location, NodeCounts};

    fn begun(kind: CollectiveKind, node: usize, early: Vec<StepMessage>) -> CollectiveUnderWay {
        let counts = NodeCounts::new(vec![2, 2, 2]);
        let root = Location { node: 0, local_rank: 0 };
        let description = PieceDescription { kind, root, bytes: 8, operator: 4 };
        CollectiveUnderWay::new(
            Stream::Blocking,
            3,
            description,
            NodePosition { counts: &counts, node },
            early,
        )
    }

    fn step(flag: Flag, byte: u8) -> StepMessage {
        StepMessage { flag, turn: 1, place: Place::input(0), data: vec![byte; 8].into() }
    }

    /// The prefix is there with its message, before the ranks have contributed and before the collective has
    /// been called.
    #[test]
    fn a_scans_prefix_does_not_wait_for_the_ranks_here() {
        let mut scan = begun(CollectiveKind::Scan, 1, Vec::new());
        assert!(scan.prefix == Prefix::Awaited && scan.waits_for_others());
        scan.receive(step(Flag(RESULT.0 + 2), 9)).unwrap();
        assert_eq!(scan.prefix, Prefix::Awaited, "an operand is not the result");
        scan.receive(step(RESULT, 7)).unwrap();
        scan.receive(step(RESULT, 0)).unwrap(); // the message comes twice
        assert_eq!(scan.prefix, Prefix::Arrived(vec![7; 8].into()));
        assert!(matches!(scan.phase, Phase::AwaitingRanks) && !scan.waits_for_others());
        let early = begun(CollectiveKind::Exscan, 1, vec![step(RESULT, 7)]);
        assert_eq!(early.prefix, Prefix::Arrived(vec![7; 8].into()));
    }

    #[test]
    fn only_scans_of_later_nodes_have_a_prefix() {
        assert_eq!(begun(CollectiveKind::Allreduce, 1, vec![step(RESULT, 7)]).prefix, Prefix::Settled);
        assert_eq!(begun(CollectiveKind::Scan, 0, Vec::new()).prefix, Prefix::Settled);
    }
}
