//! What `--barrier` says.

use evenkeel_options as options;
use thiserror::Error;

/// Whether barriers may be left pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierMode {
    /// They are deferred where system calls can be caught, and where it pays.
    Auto,
    /// They are deferred also where system calls cannot be caught, and whether or not it pays.
    Deferred,
    /// They never are.
    Strict,
}

/// `EVENKEEL_BARRIER` has a value that is no mode.
#[derive(Debug, Error)]
#[error("{}={value} is none of {}; barriers are strict", options::BARRIER.env, options::BARRIER.values)]
pub struct BarrierModeError {
    value: String,
}

impl BarrierMode {
    /// The mode in force.
    pub fn from_environment() -> Result<BarrierMode, BarrierModeError> {
        match options::BARRIER.get().as_str() {
            "auto" => Ok(BarrierMode::Auto),
            "deferred" => Ok(BarrierMode::Deferred),
            "strict" => Ok(BarrierMode::Strict),
            other => Err(BarrierModeError { value: other.to_string() }),
        }
    }
}
