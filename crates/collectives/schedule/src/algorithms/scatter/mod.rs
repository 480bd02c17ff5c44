//! Scatters: each part of the root's input comes to be the output of one rank.
//!
//! Every receiver says that it has read by adding to a counter of its sender, who awaits that from the
//! bank's previous use.

pub mod binomial;
pub mod flat;
