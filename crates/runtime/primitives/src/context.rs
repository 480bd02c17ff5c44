//! What every role of a node sees of its surroundings.

use crate::message::{Body, TransferKey};
use crate::operation::EventId;
use crate::settings::Settings;
use crate::view::{View, Viewstamp};
use evenkeel_fabric::{Memory, NodeId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// The bytes of each transfer that have arrived ahead of its order, from the first byte on.
pub(crate) type StagedData = HashMap<TransferKey, Vec<u8>>;

/// A node's surroundings at one moment.
pub(crate) struct Context<'a> {
    pub now: Duration,
    /// This node.
    pub node: NodeId,
    /// How many nodes the job has.
    pub nodes: usize,
    /// The highest view that this node knows of.
    pub view: &'a mut View,
    pub memory: &'a Memory,
    pub settings: &'a Settings,
    /// When each node was last heard of.
    pub last_heard: &'a HashMap<NodeId, Duration>,
    /// Silence before this moment does not count: this node itself did not run then.
    pub awake_since: Duration,
    pub evicted: &'a BTreeSet<NodeId>,
    /// Signals that have not been taken.
    pub events: &'a mut BTreeMap<EventId, u64>,
    pub staged: &'a mut StagedData,
    pub outgoing: &'a mut Vec<(NodeId, Body)>,
}

impl Context<'_> {
    /// The node that orders what begins now.
    pub fn sequencer(&self) -> NodeId {
        self.view.sequencer(self.nodes)
    }

    /// The node that ordered the operation at this place.
    pub fn sequencer_of(&self, stamp: Viewstamp) -> NodeId {
        stamp.view().sequencer(self.nodes)
    }

    pub fn send(&mut self, to: NodeId, message: Body) {
        self.outgoing.push((to, message));
    }

    /// Whether nothing has been heard of a node for half of the limit, though it was asked at a moment.
    pub fn is_quiet(&self, node: NodeId, asked: Duration) -> bool {
        self.is_unheard(node, asked, self.settings.limit / 2)
    }

    /// Whether a node that was first asked at a moment counts as failed.
    pub fn is_silent(&self, node: NodeId, asked: Duration) -> bool {
        self.is_unheard(node, asked, self.settings.limit)
    }

    fn is_unheard(&self, node: NodeId, asked: Duration, longest: Duration) -> bool {
        let last = self.last_heard.get(&node).copied().unwrap_or_default().max(asked).max(self.awake_since);
        self.evicted.contains(&node) || (node != self.node && self.now > last + longest)
    }
}
