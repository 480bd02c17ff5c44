//! The times of one pass.

use serde::{Deserialize, Serialize};

/// Times of one pass, in nanoseconds as the clock gave them. What a scenario does not time stays empty.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PassTimes {
    /// Of the whole: until all answers are there, of a block of a stream, of a message and its answer.
    pub whole: Vec<u64>,
    /// Of posting alone.
    pub posting: Vec<u64>,
    /// From the first signal until the last peer has seen its own.
    pub to_last: Vec<u64>,
    /// From the last peer's signal until rank 0 has seen all.
    pub from_last: Vec<u64>,
}
