//! Gathers: the input of every rank becomes a part of the root's output.
//!
//! A receiver tells the sender when it has read, and the sender waits for that message of the bank's
//! previous use before it sends again.

pub(crate) mod binomial;
pub(crate) mod flat;
