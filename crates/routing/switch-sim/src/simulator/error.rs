//! Why a simulation ends before its time.

use super::conservation::ConservationError;
use super::deadlock::Deadlock;
use thiserror::Error;

/// Why a simulation ended before its time.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SimulationError {
    /// Packets wait for each other.
    #[error(transparent)]
    Deadlock(#[from] Deadlock),
    /// The simulator lost or duplicated phits, which is a bug of the simulator.
    #[error(transparent)]
    Conservation(#[from] ConservationError),
}
