//! What is counted while a program runs: per communicator and operation ([`tally`]), over time
//! ([`timeline`], [`waited`], [`arrivals`]), by peer ([`peers`]), and notes for the user ([`notes`]).
//!
//! May use: the types of the record. Must never: take a lock or allocate in a call that is not sampled.

pub mod arrivals;
pub mod notes;
pub mod peers;
pub mod tally;
pub mod timeline;
pub mod waited;
