//! What every part of a node's machine sees of its surroundings, and the settings.

use crate::dissemination::Staged;
use crate::message::{Message, Turn};
use crate::operation::EventId;
use crate::view::{View, sequencer_of, view_of};
use evenkeel_fabric::{Memory, NodeId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// How a job's primitives behave; the same on all its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// A node of which nothing is heard for so long, though it was asked, has failed. Slow is not dead: it
    /// may stop for less.
    pub limit: Duration,
    /// After so long without an answer a question is repeated; then after twice as long, and so on.
    pub resend: Duration,
    /// How many nodes each has below it in the tree.
    pub fanout: usize,
    /// Transfers of more bytes go ahead to all nodes, past the one that orders; shorter ones go with the
    /// question.
    pub inline_bytes: usize,
    /// Rules that tests break one at a time, to see that somebody notices.
    pub rules: Rules,
}

impl Default for Settings {
    fn default() -> Settings {
        let (limit, resend) = (Duration::from_secs(2), Duration::from_millis(20));
        Settings { limit, resend, fanout: 4, inline_bytes: 8 << 10, rules: Rules::default() }
    }
}

/// The rules that make the order what it is. For tests: nothing is right without them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The sequencer starts an operation only when none is under way whose order with it matters.
    pub in_turn: bool,
    /// A node lets nothing read what may be about to change.
    pub reads_wait: bool,
    /// A node carries an operation out when all have agreed to, and not before.
    pub all_or_none: bool,
    /// A node that has promised to settle a matter without the sequencer does not follow it any more.
    pub promises: bool,
    /// A transfer whose data go ahead is ordered when every node has them, and not before.
    pub data_first: bool,
    /// A node takes part in nothing that is ordered in a lower view than the highest it knows of.
    pub fenced: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            in_turn: true,
            reads_wait: true,
            all_or_none: true,
            promises: true,
            data_first: true,
            fenced: true,
        }
    }
}

/// A node's surroundings at one moment.
pub(crate) struct Here<'a> {
    pub now: Duration,
    pub node: NodeId,
    pub nodes: usize,
    /// The highest view that this node knows of.
    pub view: &'a mut View,
    pub memory: &'a Memory,
    pub settings: &'a Settings,
    /// When each node was last heard of.
    pub heard: &'a HashMap<NodeId, Duration>,
    /// Silence is not counted from before this moment: until then this node itself stood still.
    pub awake_since: Duration,
    pub evicted: &'a BTreeSet<NodeId>,
    pub events: &'a mut BTreeMap<EventId, u64>,
    /// Bytes of transfers that have not been ordered yet.
    pub staged: &'a mut Staged,
    pub out: &'a mut Vec<(NodeId, Message)>,
}

impl Here<'_> {
    /// The node that orders what begins now.
    pub fn leader(&self) -> NodeId {
        sequencer_of(*self.view, self.nodes)
    }

    /// The node that gave a turn.
    pub fn sequencer(&self, turn: Turn) -> NodeId {
        sequencer_of(view_of(turn), self.nodes)
    }

    pub fn send(&mut self, to: NodeId, message: Message) {
        self.out.push((to, message));
    }

    /// Whether nothing has been heard of a node for half of the limit, though it was asked at a moment.
    pub fn quiet(&self, node: NodeId, asked: Duration) -> bool {
        let last = self.heard.get(&node).copied().unwrap_or_default().max(asked).max(self.awake_since);
        self.evicted.contains(&node) || (node != self.node && self.now > last + self.settings.limit / 2)
    }

    /// Whether a node that was first asked at a moment has to be taken for failed.
    pub fn silent(&self, node: NodeId, asked: Duration) -> bool {
        let last = self.heard.get(&node).copied().unwrap_or_default().max(asked).max(self.awake_since);
        self.evicted.contains(&node) || (node != self.node && self.now > last + self.settings.limit)
    }
}
