//! A communicator that the host library serves; what is called on it is only counted.

use super::identity::Identity;
use crate::collective::call::CollectiveKind;
use crate::record::tally::Tallies;
use evenkeel_record::CommRecord;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Why the host library serves a communicator. The sentences stand in reports.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum HostReason {
    /// It is switched off, or has not come up.
    #[error("evenkeel is not active")]
    NotActive,
    /// There is nobody to wait for.
    #[error("it has one member only")]
    OneMember,
    /// A member is of another world, such as a spawned process.
    #[error("it has members from outside this MPI_COMM_WORLD")]
    OtherWorld,
    /// Members are on several nodes, and there are no agents.
    #[error("its members do not share one node's memory")]
    SeveralNodes,
    /// The segment is full.
    #[error("there was no room for it in the segment")]
    NoRoom,
    /// The segment of some node is full.
    #[error("there was no room for it in the segment of some node")]
    NoRoomOnSomeNode,
}

/// A communicator that the host library serves.
pub struct HostCommunicator {
    /// Which communicator it is.
    pub identity: Identity,
    /// Why.
    pub reason: HostReason,
    tallies: Mutex<Tallies>,
}

impl HostCommunicator {
    /// One that nothing was called on.
    pub fn new(identity: Identity, reason: HostReason) -> HostCommunicator {
        HostCommunicator { identity, reason, tallies: Mutex::default() }
    }

    /// Counts a call.
    pub fn count(&self, kind: CollectiveKind, nonblocking: bool) {
        let mut tallies = self.tallies.lock().unwrap_or_else(PoisonError::into_inner);
        tallies.of(kind, nonblocking).host_calls += 1;
    }

    pub(super) fn record(&self) -> Option<CommRecord> {
        let ops = self.tallies.lock().unwrap_or_else(PoisonError::into_inner).records();
        let record = self.identity.record(ops)?;
        Some(CommRecord { host_reason: self.reason.to_string(), ..record })
    }
}
