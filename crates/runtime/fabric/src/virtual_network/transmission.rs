//! What travels through a virtual network.

use crate::memory::{Atomic, WordWrite};
use crate::node::NodeId;
use crate::wire::Ticket;
use std::cmp::Ordering;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(super) enum Transmission {
    Message(Vec<u8>),
    Put { ticket: Ticket, at: usize, bytes: Vec<u8>, flag: Option<WordWrite> },
    Atomic { ticket: Ticket, at: usize, operation: Atomic },
    Completion { ticket: Ticket, fetched: u64 },
}

impl Transmission {
    /// Bytes of payload.
    pub fn bytes(&self) -> u64 {
        match self {
            Transmission::Message(bytes) | Transmission::Put { bytes, .. } => bytes.len() as u64,
            Transmission::Atomic { .. } | Transmission::Completion { .. } => 8,
        }
    }

    /// Whether it may arrive twice. What a wire promises to happen at most once may not.
    pub fn may_be_duplicated(&self) -> bool {
        matches!(self, Transmission::Message(_))
    }
}

/// A transmission under way. Ordered by its arrival, and then by when it was sent.
#[derive(Clone, Debug)]
pub(super) struct InFlight {
    /// When it arrives, in virtual time.
    pub arrival: Duration,
    /// Its number among all that were sent.
    pub number: u64,
    pub from: NodeId,
    pub to: NodeId,
    pub transmission: Transmission,
}

impl InFlight {
    fn key(&self) -> (Duration, u64) {
        (self.arrival, self.number)
    }
}

impl PartialEq for InFlight {
    fn eq(&self, other: &InFlight) -> bool {
        self.key() == other.key()
    }
}

impl Eq for InFlight {}

impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &InFlight) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for InFlight {
    fn cmp(&self, other: &InFlight) -> Ordering {
        self.key().cmp(&other.key())
    }
}
