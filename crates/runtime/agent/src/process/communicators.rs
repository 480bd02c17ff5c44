//! The communicators that an agent takes part in, and messages of those that it does not know yet.

use crate::communicator::agent_communicator::{AddressedMessage, AgentCommunicator};
use crate::error::AgentError;
use crate::message::Content;
use evenkeel_engine::job::agent_commands::NewCommunicator;
use evenkeel_engine::job::node::Node;
use evenkeel_fabric::NodeId;
use std::collections::{HashMap, VecDeque};

/// Bytes of messages that are kept for communicators that are not attached yet, with [`MESSAGE_BYTES`] for
/// each message. A node runs ahead of the others by 64 collectives of a communicator at most, so a job needs
/// less.
const MAX_UNCLAIMED_BYTES: usize = 256 << 20;
/// What keeping a message takes besides its data.
const MESSAGE_BYTES: usize = 128;
/// How many communicators are remembered that are over.
const MAX_REMEMBERED: usize = 1024;

/// The communicators of one agent.
pub struct Communicators {
    world: &'static Node,
    share_cores: bool,
    attached: Vec<AgentCommunicator>,
    /// Messages about communicators that no rank here has attached yet.
    unclaimed: HashMap<u64, Vec<(NodeId, Content)>>,
    /// What they take, in bytes.
    unclaimed_bytes: usize,
    /// The last communicators that are over here: a message about one of them is late, not early.
    over: VecDeque<u64>,
    /// How many ranks here have freed a communicator before its first member here has attached it.
    freed_early: HashMap<u64, usize>,
}

impl Communicators {
    /// None so far. `share_cores`: the job's nodes are virtual hosts of one machine.
    pub fn new(world: &'static Node, share_cores: bool) -> Communicators {
        Communicators {
            world,
            share_cores,
            attached: Vec::new(),
            unclaimed: HashMap::new(),
            unclaimed_bytes: 0,
            over: VecDeque::new(),
            freed_early: HashMap::new(),
        }
    }

    fn find(&mut self, id: u64) -> Option<&mut AgentCommunicator> {
        self.attached.iter_mut().find(|communicator| communicator.id == id)
    }

    /// The first rank here has attached a communicator. Adds what is to be sent to `out`.
    pub fn attach(
        &mut self,
        new: &NewCommunicator,
        out: &mut Vec<AddressedMessage>,
    ) -> Result<(), AgentError> {
        let mut communicator = AgentCommunicator::join(self.world, new, self.share_cores)?;
        let (ranks_here, nodes) = (new.members.len(), new.nodes.len());
        tracing::info!(
            communicator = format_args!("{:x}", new.id),
            ranks_here,
            nodes,
            "a communicator is attached"
        );
        for (from, content) in self.unclaimed.remove(&new.id).unwrap_or_default() {
            self.unclaimed_bytes -= kept_bytes(&content);
            communicator.receive(from, content, out)?;
        }
        (0..self.freed_early.remove(&new.id).unwrap_or(0)).for_each(|_| communicator.detach(out));
        self.attached.push(communicator);
        Ok(())
    }

    /// A rank here has freed a communicator. Adds what is to be sent to `out`.
    pub fn detach(&mut self, id: u64, out: &mut Vec<AddressedMessage>) {
        match self.find(id) {
            Some(communicator) => communicator.detach(out),
            None => *self.freed_early.entry(id).or_default() += 1,
        }
    }

    /// A rank here waits for long in a collective that ranks carry themselves. Adds what is to be sent to
    /// `out`.
    pub fn ask(&mut self, id: u64, number: u64, description: u32, out: &mut Vec<AddressedMessage>) {
        if let Some(communicator) = self.find(id) {
            communicator.ask(number, description, out);
        }
    }

    /// A rank here has revoked a communicator. Adds what is to be sent to `out`.
    pub fn revoke(&mut self, id: u64, out: &mut Vec<AddressedMessage>) {
        if let Some(communicator) = self.find(id) {
            communicator.revoke(out);
        }
    }

    /// Another node has sent something about a communicator. Adds what is to be sent on to `out`.
    pub fn receive(
        &mut self,
        from: NodeId,
        id: u64,
        content: Content,
        out: &mut Vec<AddressedMessage>,
    ) -> Result<(), AgentError> {
        if let Some(communicator) = self.find(id) {
            return communicator.receive(from, content, out);
        }
        // A question is repeated as long as it is not answered, so it need not be kept.
        let is_question = matches!(content, Content::Question(_));
        if !is_question && !self.over.contains(&id) {
            self.unclaimed_bytes += kept_bytes(&content);
            if self.unclaimed_bytes > MAX_UNCLAIMED_BYTES {
                return Err(AgentError::TooMuchUnclaimed(self.unclaimed_bytes));
            }
            self.unclaimed.entry(id).or_default().push((from, content));
        }
        Ok(())
    }

    /// Whether no rank here has attached any.
    pub fn have_never_been(&self) -> bool {
        self.attached.is_empty() && self.over.is_empty()
    }

    /// All of them, to be moved on.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut AgentCommunicator> {
        self.attached.iter_mut()
    }

    /// Wakes the ranks here that sleep for what has been done.
    pub fn announce(&self) {
        self.attached.iter().for_each(AgentCommunicator::announce);
    }

    /// Leaves the communicators that are over.
    pub fn drop_finished(&mut self) {
        while let Some(at) = self.attached.iter().position(AgentCommunicator::is_over) {
            let communicator = self.attached.swap_remove(at);
            self.over.push_back(communicator.id);
            if self.over.len() > MAX_REMEMBERED {
                self.over.pop_front();
            }
            tracing::info!(communicator = format_args!("{:x}", communicator.id), "a communicator is over");
            communicator.resign();
        }
    }

    /// Whether there is nothing to do for the ranks here.
    pub fn are_idle(&self) -> bool {
        self.attached.iter().all(AgentCommunicator::is_idle)
    }

    /// The nodes that ranks here wait for, each once; this node may be among them.
    pub fn awaited_nodes(&self) -> Vec<usize> {
        let waiting = self.attached.iter().filter(|communicator| communicator.waits_for_others());
        let mut nodes: Vec<usize> =
            waiting.flat_map(|communicator| communicator.nodes.iter().map(|node| node.index())).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

/// What keeping a message takes.
fn kept_bytes(content: &Content) -> usize {
    let data = if let Content::Step { step, .. } = content { step.data.len() } else { 0 };
    MESSAGE_BYTES + data
}
