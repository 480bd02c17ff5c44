//! What the agent does for collectives that ranks carry themselves: nothing, until a rank waits for long.
//! Then the agents ask each other what their nodes have said, over a network that loses nothing.

use crate::message::{Content, OutgoingMessage};
use bytes::Bytes;
use evenkeel_engine::direct::answer::{self, answer};
use evenkeel_engine::direct::description::Description;
use evenkeel_engine::direct::part::accept_statement;
use evenkeel_engine::job::agent_commands::NewCommunicator;
use evenkeel_engine::job::node::Node;
use evenkeel_segment::Mapped;
use evenkeel_segment::block::Block;
use evenkeel_segment::statements::{DATA_BYTES, StatementGeometry, Statements};
use evenkeel_segment::waiters::{Kind, Waiters};
use std::time::{Duration, Instant};

/// All ranks of a node that wait ask for the same. After a question the next one about the same collective is
/// passed on after this time, which doubles with each of them, up to the longest.
const SHORTEST_SILENCE: Duration = Duration::from_millis(4);
const LONGEST_SILENCE: Duration = Duration::from_millis(90);

/// What the nodes of one communicator have said, as its agent sees it.
pub struct Answers {
    /// The job's name for the communicator.
    id: u64,
    world: &'static Node,
    statements: Statements<Mapped>,
    block: Block,
    /// This node among those of the communicator.
    here: usize,
    /// The latest collective about which a rank here has asked.
    asked: Option<u64>,
    /// No further question about it is passed on before this time, and for how long after the next one.
    silent_until: Instant,
    silence: Duration,
    /// The communicator has been revoked, so nothing is waited for any more.
    is_revoked: bool,
}

impl Answers {
    /// Those of a communicator whose ranks carry collectives themselves. The inner `None`: the segment has no
    /// room.
    pub fn join(world: &'static Node, new: &NewCommunicator) -> Option<Option<Answers>> {
        if !new.has_statements {
            return None;
        }
        let geometry = StatementGeometry::new(new.members.len(), new.nodes.len());
        let block =
            Block::from_id(new.block).and_then(|owner| world.allocator().statements(owner, &geometry));
        Some(block.map(|block| Answers {
            id: new.id,
            world,
            statements: Statements { memory: world.segment.at(block.offset()), geometry },
            block,
            here: new.this_node as usize,
            asked: None,
            silent_until: Instant::now(),
            silence: SHORTEST_SILENCE,
            is_revoked: false,
        }))
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let here = self.here;
        (0..self.statements.geometry.nodes).filter(move |node| *node != here)
    }

    /// A rank here waits for long in a collective: asks the nodes from which it lacks something.
    pub fn ask(&mut self, number: u64, description: u32, out: &mut Vec<OutgoingMessage>) {
        let now = Instant::now();
        if self.asked < Some(number) {
            (self.asked, self.silence) = (Some(number), SHORTEST_SILENCE);
        } else if now < self.silent_until {
            return;
        }
        self.silent_until = now + self.silence;
        self.silence = (self.silence * 2).min(LONGEST_SILENCE);
        let (description, nodes) = (Description::from_word(description), self.statements.geometry.nodes);
        let lacks = |node: &usize| {
            // A rank may have been stopped while it wrote down what the node has said.
            let is_silent = !self.statements.is_whole(number, *node, description.bytes.min(DATA_BYTES));
            let is_full = !self.statements.has_credit(number, *node);
            is_full || description.tells(*node, self.here, nodes) && is_silent
        };
        let question = |to| OutgoingMessage { to, content: Content::Question(number) };
        out.extend(self.others().filter(lacks).map(question));
    }

    /// Another node asks what this one has said in a collective. Where one datagram is lost, later ones may
    /// be, too: it is told all that has been said from there on.
    pub fn answer(&self, from: usize, number: u64, out: &mut Vec<OutgoingMessage>) {
        let credit = Content::Credit(self.statements.finished());
        out.push(OutgoingMessage { to: from, content: credit });
        for number in number..number.saturating_add(self.statements.geometry.window) {
            let Some((description, data)) = answer(&self.statements, number, self.here, from) else {
                continue;
            };
            let data = Bytes::copy_from_slice(answer::Content::new(description, &data).bytes());
            out.push(OutgoingMessage { to: from, content: Content::Statement { number, data } });
        }
    }

    /// Another node has answered what it has said.
    pub fn receive_statement(&self, from: usize, number: u64, content: &[u8]) {
        accept_statement(&self.statements, self.here, from, number, content);
        self.wake();
    }

    /// Another node has told how many collectives its ranks have finished.
    pub fn receive_credit(&self, from: usize, finished: u64) {
        if self.statements.raise_credit(from, finished) {
            self.wake();
        }
    }

    /// Wakes the ranks here that wait for other nodes.
    fn wake(&self) {
        Waiters::of(&self.world.segment).wake(Kind::of(self.id).into());
    }

    /// The communicator has been revoked.
    pub fn revoke(&mut self) {
        self.is_revoked = true;
        self.wake();
    }

    /// The last rank here has freed the communicator: tells the other nodes that it lacks nothing.
    pub fn tell_end(&self, out: &mut Vec<OutgoingMessage>) {
        let finished = self.statements.finished();
        out.extend(self.others().map(|to| OutgoingMessage { to, content: Content::Credit(finished) }));
    }

    /// Whether no node lacks anything that was said here, once all ranks here have freed the communicator.
    pub fn are_heard(&self) -> bool {
        let finished = self.statements.finished();
        self.is_revoked || self.others().all(|node| self.statements.credit(node) >= finished)
    }

    /// Whether ranks here wait for other nodes, and have said so.
    pub fn are_awaited(&self) -> bool {
        !self.is_revoked && self.asked.is_some_and(|number| self.statements.finished() <= number)
    }

    /// Drops the agent's reference.
    pub fn resign(self) {
        self.world.allocator().drop_reference(self.block, &self.statements.geometry);
    }
}
