//! What the ranks of a measurement are asked to do.

use crate::comparison::TimeLimits;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The measurement that a rank takes part in. Only `rank` differs between the ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasurementTask {
    /// The rank that receives this task.
    pub rank: usize,
    /// All ranks.
    pub ranks: u32,
    /// The names of the schedules to compare with the built-in barrier.
    pub schedules: Vec<String>,
    /// Milliseconds of the first part. See [`TimeLimits::screening`].
    pub screening_ms: u64,
    /// Milliseconds of the second part. See [`TimeLimits::finals`].
    pub finals_ms: u64,
    /// Whether schedules that are far slower than the built-in barrier drop out of the first part.
    pub drop_slow: bool,
    /// Determines the order of the turns.
    pub seed: u64,
}

impl MeasurementTask {
    pub(crate) fn limits(&self) -> TimeLimits {
        TimeLimits {
            screening: Duration::from_millis(self.screening_ms),
            finals: Duration::from_millis(self.finals_ms),
            drop_slow: self.drop_slow,
        }
    }
}
