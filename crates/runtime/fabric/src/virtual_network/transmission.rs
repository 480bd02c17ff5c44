//! What is in the air.

use crate::{Atomic, NodeId, Ticket};
use std::cmp::Ordering;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) enum Flight {
    Message(Vec<u8>),
    Put { ticket: Ticket, at: usize, bytes: Vec<u8>, flag: Option<(usize, u64)> },
    Atomic { ticket: Ticket, at: usize, what: Atomic },
    Done { ticket: Ticket, fetched: u64 },
}

impl Flight {
    /// Payload.
    pub fn bytes(&self) -> u64 {
        match self {
            Flight::Message(bytes) | Flight::Put { bytes, .. } => bytes.len() as u64,
            Flight::Atomic { .. } | Flight::Done { .. } => 8,
        }
    }

    /// What a wire promises to happen once at most is never doubled.
    pub fn may_be_doubled(&self) -> bool {
        matches!(self, Flight::Message(_))
    }
}

/// A flight and its arrival. Ordered by that, and then by when it was sent.
#[derive(Clone, Debug)]
pub(crate) struct InAir {
    pub at: Duration,
    pub order: u64,
    pub from: NodeId,
    pub to: NodeId,
    pub flight: Flight,
}

impl InAir {
    fn key(&self) -> (Duration, u64) {
        (self.at, self.order)
    }
}

impl PartialEq for InAir {
    fn eq(&self, other: &InAir) -> bool {
        self.key() == other.key()
    }
}

impl Eq for InAir {}

impl PartialOrd for InAir {
    fn partial_cmp(&self, other: &InAir) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for InAir {
    fn cmp(&self, other: &InAir) -> Ordering {
        self.key().cmp(&other.key())
    }
}
