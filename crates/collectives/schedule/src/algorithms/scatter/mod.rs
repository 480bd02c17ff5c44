//! Scatters: each part of the root's input becomes the output of one rank.
//!
//! A receiver says that it has read by adding to a counter of its sender, which waits for those additions
//! of the bank's previous use.

pub(crate) mod binomial;
pub(crate) mod flat;
