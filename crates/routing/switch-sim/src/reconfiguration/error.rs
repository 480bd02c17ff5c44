//! Errors of reconfigurations.

use super::final_check::FinalCheckError;
use crate::simulator::SimulationError;
use thiserror::Error;

/// Why a reconfiguration failed.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ReconfigurationError {
    /// The simulation ended.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// Escape channels may wait for each other.
    #[error("at cycle {at} the dependencies between escape channels have a cycle")]
    Cycle {
        /// The simulated cycle.
        at: u64,
    },
    /// The tables are wrong in the end.
    #[error("after the reconfiguration, {0}")]
    FinalCheck(#[from] FinalCheckError),
}
