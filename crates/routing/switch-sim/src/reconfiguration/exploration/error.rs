//! What an exploration may find, and faults that it must find.

use crate::reconfiguration::final_check::FinalCheckError;
use thiserror::Error;

/// A fault that is injected to show that the exploration notices it. For faults in reversing links see
/// [`crate::reconfiguration::reversal_exploration::ReversalFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolFault {
    /// No fault.
    None,
    /// Messages to the switch with the highest number are lost and not sent again.
    LostMessages,
    /// Switches that join a static reconfiguration keep their tables.
    KeptTables,
}

/// An invariant that does not hold in a state.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ViolationError {
    /// Escape channels may wait for each other.
    #[error("the dependencies between escape channels have a cycle")]
    Cycle,
    /// Hosts were stopped by a protocol that never stops them.
    #[error("injection is stopped")]
    InjectionStopped,
    /// A switch takes a channel that has failed for a working one.
    #[error("the tables may offer a channel that has failed")]
    FailedChannelOffered,
    /// The tables are wrong in the end.
    #[error("after the last event, {0}")]
    FinalCheck(#[from] FinalCheckError),
}

/// Why an exploration failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ExplorationError {
    /// An invariant does not hold.
    #[error("{violation}; pending events: {pending}")]
    Violation {
        /// The invariant.
        violation: ViolationError,
        /// The events that could have happened next.
        pending: String,
    },
    /// There are more states than allowed.
    #[error("there are more than {max_states} states")]
    TooManyStates {
        /// The limit.
        max_states: usize,
    },
}
