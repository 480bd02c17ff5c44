//! Gathers: everybody's input comes to be a part of the root's output.
//!
//! Whoever has been sent to tells the sender when what it sent has been read, and the sender awaits
//! that from the bank's previous use.

pub mod binomial;
pub mod flat;
