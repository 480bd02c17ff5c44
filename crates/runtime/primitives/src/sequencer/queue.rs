//! What the sequencer knows: operations that wait, that are under way, and whose decision some nodes have not
//! heard.

use crate::collector::Collector;
use crate::message::{Ack, Vote};
use crate::node_set::NodeSet;
use crate::operation::{Operation, OperationNumber};
use crate::outcome::Outcome;
use crate::view::{View, Viewstamp};
use evenkeel_fabric::NodeId;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

/// An operation that an origin wants ordered.
pub(super) struct Request {
    pub origin: NodeId,
    pub number: OperationNumber,
    pub set: NodeSet,
    pub operation: Operation,
}

impl Request {
    pub fn is(&self, origin: NodeId, number: OperationNumber) -> bool {
        self.origin == origin && self.number == number
    }

    /// Whether the two must not be under way at the same time.
    pub fn conflicts_with(&self, other: &Request) -> bool {
        self.origin == other.origin || self.operation.conflicts_with(&other.operation)
    }
}

/// An operation under way.
pub(super) struct Ongoing {
    pub request: Request,
    pub votes: Collector<Vote>,
    /// The origin was told the outcome.
    pub is_answered: bool,
    pub decision: Option<Decision>,
}

/// A decision that is being acknowledged.
pub(super) struct Decision {
    pub commit: bool,
    pub acks: Collector<Ack>,
    /// The second round has begun: nodes are told directly, not through the tree.
    pub direct: bool,
    /// Some node has carried the operation out.
    pub applied: bool,
    /// The nodes have settled it the other way.
    pub overruled: bool,
    pub missing: BTreeSet<NodeId>,
    /// This node, if it is in the set, was told the final decision.
    pub is_known_here: bool,
}

impl Decision {
    /// Whether the operation is committed, if that can no longer change.
    pub fn final_decision(&self) -> Option<bool> {
        match self {
            Decision { commit: false, .. } | Decision { overruled: true, .. } => Some(false),
            Decision { applied: true, .. } => Some(true),
            _ => None,
        }
    }
}

/// A decision that some nodes have not acknowledged: they were silent.
pub(super) struct Unacknowledged {
    pub set: NodeSet,
    pub missing: BTreeSet<NodeId>,
    /// The final decision. None: none of the missing nodes was heard, so they may settle it either way.
    pub commit: Option<bool>,
    /// When they are told again.
    pub next: Duration,
}

/// The requests of one origin.
#[derive(Default)]
pub(super) struct OriginLog {
    /// All requests with lower numbers were queued, or will never be.
    pub next: OperationNumber,
    /// Requests that overtook an earlier one.
    pub early: BTreeMap<OperationNumber, (NodeSet, Operation)>,
    pub outcomes: BTreeMap<OperationNumber, Outcome>,
}

/// What the ordering node knows. Other nodes have one, too, which stays empty.
pub(crate) struct Sequencer {
    /// The place of the next operation.
    pub(super) next: Viewstamp,
    pub(super) queue: VecDeque<Request>,
    pub(super) ongoing: BTreeMap<Viewstamp, Ongoing>,
    pub(super) unacknowledged: BTreeMap<Viewstamp, Unacknowledged>,
    pub(super) origins: HashMap<NodeId, OriginLog>,
}

impl Default for Sequencer {
    fn default() -> Sequencer {
        Sequencer {
            next: View::default().first_stamp(),
            queue: VecDeque::new(),
            ongoing: BTreeMap::new(),
            unacknowledged: BTreeMap::new(),
            origins: HashMap::new(),
        }
    }
}

impl Sequencer {
    /// Begins to order in a view.
    pub fn begin(&mut self, view: View) {
        self.next = view.first_stamp();
    }

    /// All operations before this place are settled everywhere, and no living node is in doubt about one: if
    /// this node falls silent, no node needs to know more about them.
    pub(super) fn horizon(&self) -> Viewstamp {
        let open = [self.ongoing.keys().next(), self.unacknowledged.keys().next()];
        open.into_iter().flatten().min().copied().unwrap_or(self.next)
    }
}
