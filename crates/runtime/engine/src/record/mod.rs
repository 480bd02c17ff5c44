//! What is counted while a program runs: per communicator and operation ([`tally`]), over time
//! ([`timeline`], [`waited`], [`arrivals`]), by peer ([`peers`]), of messages ([`host_messages`]), and notes
//! for the user ([`notes`]).
//!
//! May use: the types of the record. Must never: take a lock or allocate in a call that is not sampled; only
//! what is noted when a report is to be written may.

pub mod arrivals;
pub mod host_messages;
pub mod notes;
pub mod peers;
pub mod tally;
pub mod timeline;
pub mod waited;
