//! A communicator that the host library serves. evenkeel only counts the calls on it.

use super::identity::Identity;
use crate::collective::call::CollectiveKind;
use crate::record::tally::Tallies;
use evenkeel_record::CommRecord;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Why the host library serves a communicator. Reports print these sentences.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum HostReason {
    /// evenkeel is switched off, or its start-up failed.
    #[error("evenkeel is not active")]
    NotActive,
    /// The only member has no other rank to wait for.
    #[error("it has one member only")]
    OneMember,
    /// Some member belongs to another world, such as a spawned process.
    #[error("it has members from outside this MPI_COMM_WORLD")]
    OtherWorld,
    /// Members are on several nodes, and the job has no agents.
    #[error("its members do not share one node's memory")]
    SeveralNodes,
    /// This node's segment is full.
    #[error("there was no room for it in the segment")]
    NoRoom,
    /// The segment of some node of the communicator is full.
    #[error("there was no room for it in the segment of some node")]
    NoRoomOnSomeNode,
}

/// A communicator that the host library serves.
pub struct HostCommunicator {
    /// Its members and name.
    pub identity: Identity,
    /// Why the host library serves it.
    pub reason: HostReason,
    tallies: Mutex<Tallies>,
}

impl HostCommunicator {
    /// A communicator on which nothing has been called.
    pub fn new(identity: Identity, reason: HostReason) -> HostCommunicator {
        HostCommunicator { identity, reason, tallies: Mutex::new(Tallies::new(0)) }
    }

    /// Counts a call on it.
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
