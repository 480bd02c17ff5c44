//! A communicator whose members all share this node.

use super::identity::Identity;
use super::service::NodeService;
use crate::barrier::scheduled::ScheduledBarrier;
use crate::comm::shared::Shared;
use evenkeel_record::CommRecord;

/// A communicator whose members all share this node.
// In C order, like `SpanningCommunicator`: see there.
#[repr(C)]
pub struct NodeCommunicator {
    /// Its members and name.
    pub identity: Identity,
    /// Its parts on this node.
    pub service: NodeService,
}

impl NodeCommunicator {
    /// `schedule` runs its barriers; `None` means the built-in algorithm. All members must pass the same.
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
