//! Reduce-scatters: parts i of all inputs, combined, become the output of rank i.
//!
//! No rank can finish an epoch that another has not entered, and two banks separate the messages of ranks
//! that are one epoch ahead.

pub(crate) mod flat;
pub(crate) mod halving;
pub(crate) mod pairwise;
