//! Everybody has a part for everybody.
//!
//! As in allreduce, everybody needs something from everybody, so two banks need no acknowledgements.

pub mod bruck;
pub mod flat;
pub mod pairwise;
