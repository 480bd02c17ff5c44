//! Reduce-scatters: the i-th parts of all inputs, combined, come to be rank i's output.
//!
//! Nobody can finish an epoch that another has not entered, and two banks keep those apart that are one
//! epoch ahead.

pub mod flat;
pub mod halving;
pub mod pairwise;
