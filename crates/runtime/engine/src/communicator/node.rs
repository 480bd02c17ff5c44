//! A communicator whose members all share this node.

use super::identity::Identity;
use super::service::NodeService;
use crate::barrier::scheduled::ScheduledBarrier;
use crate::comm::shared::Shared;
use evenkeel_record::CommRecord;

/// A communicator whose members all share this node.
pub struct NodeCommunicator {
    /// Which communicator it is.
    pub identity: Identity,
    /// What it has on this node.
    pub service: NodeService,
}

impl NodeCommunicator {
    /// `schedule`: by which barriers run, which all members must say alike; None: by the built-in algorithm.
    pub(crate) fn new(
        identity: Identity,
        shared: Shared,
        schedule: Option<ScheduledBarrier>,
    ) -> NodeCommunicator {
        let service = NodeService::new(shared, identity.me, schedule);
        NodeCommunicator { identity, service }
    }

    pub(super) fn record(&self) -> Option<CommRecord> {
        let record = self.identity.record(self.service.counters())?;
        let (segment_bytes, schedule) = (self.service.segment_bytes(), self.service.schedule_name());
        Some(CommRecord { segment_bytes, schedule, ..record })
    }
}
