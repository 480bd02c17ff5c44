//! What a node knows of the operations that it takes part in.

use crate::collector::Collector;
use crate::message::{Ack, Knowledge, Vote};
use crate::node_set::NodeSet;
use crate::operation::{Operation, overlap};
use crate::view::{View, Viewstamp};
use evenkeel_fabric::NodeId;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// How far an operation is at this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It waits until an earlier operation is settled.
    Blocked,
    /// In doubt; the sequencer is followed.
    Prepared,
    /// In doubt; the sequencer is not followed any more.
    Terminating,
    Applied,
    Aborted,
    /// A comparison without a write: there is nothing to decide.
    Compared,
}

impl Progress {
    pub fn is_in_doubt(self) -> bool {
        matches!(self, Progress::Prepared | Progress::Terminating)
    }

    pub fn is_settled(self) -> bool {
        matches!(self, Progress::Applied | Progress::Aborted | Progress::Compared)
    }
}

/// Votes being collected from the nodes below.
pub(super) struct Voting {
    /// Where the combined vote goes.
    pub parent: NodeId,
    pub votes: Collector<Vote>,
    /// The combined vote, once it was sent.
    pub sent: Option<Vote>,
}

/// A decision being passed on to the nodes below.
pub(super) struct Deciding {
    /// Where the combined acknowledgement goes.
    pub parent: NodeId,
    pub commit: bool,
    pub acks: Collector<Ack>,
}

/// One operation.
pub(super) struct Record {
    pub set: NodeSet,
    /// None: another node inquired about it before the sequencer sent it.
    pub operation: Option<Operation>,
    pub progress: Progress,
    /// When this node voted, or heard of the operation first.
    pub since: Duration,
    pub own_vote: Option<Vote>,
    /// The bytes of a transfer whose data were sent ahead; from this node's vote on they are the operation's.
    pub data: Vec<u8>,
    pub voting: Option<Voting>,
    pub deciding: Option<Deciding>,
    /// What other nodes answered to this node's inquiries.
    pub answers: BTreeMap<NodeId, Knowledge>,
    pub next_inquiry: Duration,
}

impl Record {
    pub fn new(set: NodeSet, operation: Option<Operation>, progress: Progress, now: Duration) -> Record {
        Record {
            set,
            operation,
            progress,
            since: now,
            own_vote: None,
            data: Vec::new(),
            voting: None,
            deciding: None,
            answers: BTreeMap::new(),
            next_inquiry: now,
        }
    }
}

/// A node's part in operations.
#[derive(Default)]
pub(crate) struct Participant {
    pub(super) records: BTreeMap<Viewstamp, Record>,
    /// Of each view: all operations before this place are settled everywhere.
    horizons: BTreeMap<View, Viewstamp>,
}

impl Participant {
    /// Whether no operation that is in doubt would change these bytes.
    pub fn is_readable(&self, range: &Range<usize>) -> bool {
        let range = std::slice::from_ref(range);
        let in_doubt = self.records.values().filter(|record| record.progress.is_in_doubt());
        !in_doubt
            .filter_map(|record| record.operation.as_ref())
            .any(|operation| overlap(&operation.touched(), range))
    }

    /// How many operations this node remembers.
    pub fn remembered(&self) -> usize {
        self.records.len()
    }

    /// All operations of the same view before this place are settled everywhere.
    pub(super) fn horizon(&self, stamp: Viewstamp) -> Viewstamp {
        self.horizons.get(&stamp.view()).copied().unwrap_or_default()
    }

    /// Forgets settled operations before the horizon.
    pub(super) fn forget(&mut self, horizon: Viewstamp) {
        let view = horizon.view();
        let known = self.horizons.entry(view).or_default();
        *known = horizon.max(*known);
        let horizon = *known;
        self.records.retain(|&stamp, record| {
            stamp.view() != view || stamp >= horizon || !record.progress.is_settled()
        });
    }
}
