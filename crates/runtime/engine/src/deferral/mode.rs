//! The value of `--barrier`.

use evenkeel_options as options;
use thiserror::Error;

/// Whether barriers may be left pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierMode {
    /// Barriers are deferred if system calls can be caught and deferral pays.
    Auto,
    /// Barriers are deferred even if system calls cannot be caught, and whether or not deferral pays.
    Deferred,
    /// Barriers are never deferred.
    Strict,
}

/// `EVENKEEL_BARRIER` has a value that is no mode.
#[derive(Debug, Error)]
#[error("{}={value} is not one of {}; barriers are strict", options::BARRIER.env, options::BARRIER.values)]
pub struct BarrierModeError {
    value: String,
}

impl BarrierMode {
    /// The mode that the environment sets.
    pub fn from_environment() -> Result<BarrierMode, BarrierModeError> {
        match options::BARRIER.get().as_str() {
            "auto" => Ok(BarrierMode::Auto),
            "deferred" => Ok(BarrierMode::Deferred),
            "strict" => Ok(BarrierMode::Strict),
            other => Err(BarrierModeError { value: other.to_string() }),
        }
    }
}
