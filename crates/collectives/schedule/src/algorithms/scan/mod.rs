//! Rank i gets the inputs of ranks 0 to i, combined.
//!
//! Nobody hears from the ranks above it, so what is sent to them is acknowledged: a rank sends again
//! only when what it sent in the bank's previous use has been read.

pub mod flat;
pub mod linear;
pub mod recursive_doubling;
