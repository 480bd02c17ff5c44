//! Rank i gets the inputs of ranks 0 to i-1, combined; rank 0 gets nothing.
//!
//! But in the flat one, where a rank combines for itself, its output is brought by one message, in flag
//! [`RESULT`], whose cause lies in the ranks below alone: it may come before the rank has handed in
//! anything itself, and whoever carries the schedule out may then use it. Nobody hears from the ranks
//! above it, so what is sent to them is acknowledged, as in [scans](super::scan).

use crate::step::Flag;

pub mod flat;
pub mod linear;
pub mod recursive_doubling;

/// The flag that is raised when what a rank's output is to be has come.
pub const RESULT: Flag = Flag(0);
/// Raised by the next rank above when it has read all that it was sent.
const READ: Flag = Flag(1);
