//! A communicator's part on this node, with all that the agent does for it.
//!
//! What is to be sent comes from below as values for numbered nodes of the communicator, and gets the
//! communicator's name and the job's number of each node here, in one place.

use crate::communicator::answers::Answers;
use crate::communicator::call_stream::CallStream;
use crate::communicator::global_minimum::{CountMessage, GlobalMinimum, Pattern};
use crate::error::AgentError;
use crate::exchange::schedule::ScheduleCache;
use crate::message::{Content, Count, Message, OutgoingMessage, Stream};
use evenkeel_engine::job::agent_commands::NewCommunicator;
use evenkeel_engine::job::node::Node;
use evenkeel_engine::spanning::agent_member::AgentMember;
use evenkeel_fabric::NodeId;
use evenkeel_spanning::{NodeCounts, NodePosition};

/// A message, and the job's number of the node that it is for.
pub type AddressedMessage = (NodeId, Message);

/// The agent's side of one communicator.
pub struct AgentCommunicator {
    /// The job's name for it.
    pub id: u64,
    /// The job's number of each of its nodes.
    pub nodes: Vec<NodeId>,
    counts: NodeCounts,
    /// Which of its nodes this is.
    node: usize,
    blocking: CallStream,
    nonblocking: CallStream,
    /// How many barriers all ranks of all nodes have entered.
    barriers: GlobalMinimum,
    /// What its nodes have said in collectives that ranks carry themselves, if they do.
    answers: Option<Answers>,
    /// Ranks here that have not freed it.
    attached: usize,
    /// What is to be sent, before it gets its address.
    outgoing: Vec<OutgoingMessage>,
}

impl AgentCommunicator {
    /// Takes part in a communicator. `share_cores`: the nodes are virtual hosts of one machine.
    ///
    /// # Errors
    /// If the segment has no room for its second block.
    pub fn join(
        world: &'static Node,
        new: &NewCommunicator,
        share_cores: bool,
    ) -> Result<AgentCommunicator, AgentError> {
        let [blocking, nonblocking] = AgentMember::join(world, new).ok_or(AgentError::NoRoom)?;
        let answers = Answers::join(world, new).map(|joined| joined.ok_or(AgentError::NoRoom)).transpose()?;
        let (node, nodes) = (new.this_node as usize, new.nodes.len());
        let pattern = if share_cores && nodes > 2 { Pattern::Tree } else { Pattern::Dissemination };
        let minimum = || GlobalMinimum::new(node, nodes, pattern);
        let stream = |stream, member| {
            CallStream::new(stream, member, ScheduleCache::new(nodes, share_cores), minimum())
        };
        Ok(AgentCommunicator {
            id: new.id,
            nodes: new.nodes.iter().map(|(node, _)| NodeId(*node)).collect(),
            counts: NodeCounts::new(new.nodes.iter().map(|(_, count)| *count).collect()),
            node,
            blocking: stream(Stream::Blocking, blocking),
            nonblocking: stream(Stream::Nonblocking, nonblocking),
            barriers: minimum(),
            answers,
            attached: new.members.len(),
            outgoing: Vec::new(),
        })
    }

    /// Moves everything on. Whether anything happened. Adds what is to be sent to `out`.
    pub fn advance(&mut self, out: &mut Vec<AddressedMessage>) -> Result<bool, AgentError> {
        let position = NodePosition { counts: &self.counts, node: self.node };
        let mut moved = self.blocking.advance(position, &mut self.outgoing)?;
        moved |= self.nonblocking.advance(position, &mut self.outgoing)?;
        let entered = self.blocking.member.barriers_entered();
        moved |= self.change_barriers(|barriers, out| barriers.raise(entered, out));
        moved |= !self.outgoing.is_empty();
        self.address_outgoing(out);
        Ok(moved)
    }

    /// Takes a message about this communicator. Adds what is to be sent on to `out`.
    pub fn receive(
        &mut self,
        from: NodeId,
        content: Content,
        out: &mut Vec<AddressedMessage>,
    ) -> Result<(), AgentError> {
        match content {
            Content::Barriers(count) => {
                if let Some(from) = self.number_of(from) {
                    self.change_barriers(|barriers, out| barriers.receive(from, count, out));
                }
            }
            Content::Begun(stream, count) => self.receive_report(from, stream, count),
            Content::Revoked => self.note_revoked(),
            Content::Question(number) => {
                self.with_answers(from, |answers, from, out| answers.answer(from, number, out))
            }
            Content::Credit(finished) => {
                self.with_answers(from, |answers, from, _| answers.receive_credit(from, finished));
            }
            Content::Statement { number, data } => {
                self.with_answers(from, |answers, from, _| answers.receive_statement(from, number, &data));
            }
            Content::Step { stream, number, description, step } => {
                let position = NodePosition { counts: &self.counts, node: self.node };
                let stream = match stream {
                    Stream::Blocking => &mut self.blocking,
                    Stream::Nonblocking => &mut self.nonblocking,
                };
                stream.receive_step(number, description, step, position)?;
            }
        }
        self.address_outgoing(out);
        Ok(())
    }

    fn with_answers(&mut self, from: NodeId, body: impl FnOnce(&Answers, usize, &mut Vec<OutgoingMessage>)) {
        if let (Some(from), Some(answers)) = (self.number_of(from), &self.answers) {
            body(answers, from, &mut self.outgoing);
        }
    }

    /// A rank here waits for long in a collective that ranks carry themselves. Adds what is to be sent to
    /// `out`.
    pub fn ask(&mut self, number: u64, description: u32, out: &mut Vec<AddressedMessage>) {
        if let Some(answers) = &mut self.answers {
            answers.ask(number, description, &mut self.outgoing);
        }
        self.address_outgoing(out);
    }

    fn receive_report(&mut self, from: NodeId, stream: Stream, count: Count) {
        let Some(from) = self.number_of(from) else { return };
        let stream = match stream {
            Stream::Blocking => &mut self.blocking,
            Stream::Nonblocking => &mut self.nonblocking,
        };
        stream.receive_report(from, count, &mut self.outgoing);
    }

    /// Which of the communicator's nodes it is.
    fn number_of(&self, node: NodeId) -> Option<usize> {
        self.nodes.iter().position(|other| *other == node)
    }

    /// Changes what is known of barriers, and tells the ranks here of barriers that all ranks have entered.
    /// Whether there are such.
    fn change_barriers(&mut self, change: impl FnOnce(&mut GlobalMinimum, &mut Vec<CountMessage>)) -> bool {
        let (before, mut counts) = (self.barriers.get(), Vec::new());
        change(&mut self.barriers, &mut counts);
        let message = |CountMessage { to, count }| OutgoingMessage { to, content: Content::Barriers(count) };
        self.outgoing.extend(counts.into_iter().map(message));
        let entered_by_all = self.barriers.get();
        if entered_by_all > before {
            self.blocking.member.enter_barriers(entered_by_all);
        }
        entered_by_all > before
    }

    /// Gives outgoing messages the communicator's name, and the job's numbers of the nodes that they are for.
    fn address_outgoing(&mut self, out: &mut Vec<AddressedMessage>) {
        let (nodes, communicator) = (&self.nodes, self.id);
        let addressed =
            |OutgoingMessage { to, content }| (nodes[to], Message::OfCommunicator { communicator, content });
        out.extend(self.outgoing.drain(..).map(addressed));
    }

    /// A rank here has freed it. Adds what is to be sent to `out`.
    pub fn detach(&mut self, out: &mut Vec<AddressedMessage>) {
        self.attached -= 1;
        if let Some(answers) = self.answers.as_ref().filter(|_| self.attached == 0) {
            answers.tell_end(&mut self.outgoing);
        }
        self.address_outgoing(out);
    }

    /// Whether the ranks here and the agent have no more use for it.
    pub fn is_over(&self) -> bool {
        self.attached == 0 && self.is_idle() && self.answers.as_ref().is_none_or(Answers::are_heard)
    }

    /// Whether there is nothing to do for the ranks here.
    pub fn is_idle(&self) -> bool {
        self.blocking.is_idle() && self.nonblocking.is_idle()
    }

    /// Whether the ranks here wait for other nodes.
    pub fn waits_for_others(&self) -> bool {
        self.barriers.is_ahead()
            || self.blocking.waits_for_others()
            || self.nonblocking.waits_for_others()
            || self.answers.as_ref().is_some_and(Answers::are_awaited)
    }

    /// A rank here has revoked it: tells the others here, and adds what is to be sent to `out`.
    pub fn revoke(&mut self, out: &mut Vec<AddressedMessage>) {
        self.note_revoked();
        let others = (0..self.nodes.len()).filter(|to| *to != self.node);
        self.outgoing.extend(others.map(|to| OutgoingMessage { to, content: Content::Revoked }));
        self.address_outgoing(out);
    }

    fn note_revoked(&mut self) {
        self.blocking.member.revoke();
        self.answers.iter_mut().for_each(Answers::revoke);
    }

    /// Wakes the ranks here that sleep for what has been done. To be called when everything for other
    /// nodes has been sent.
    pub fn announce(&self) {
        self.blocking.member.announce();
        self.nonblocking.member.announce();
    }

    /// Leaves the communicator.
    pub fn resign(self) {
        self.blocking.member.resign();
        self.nonblocking.member.resign();
        self.answers.into_iter().for_each(Answers::resign);
    }
}
