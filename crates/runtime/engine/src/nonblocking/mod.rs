//! Nonblocking collectives. One call starts an operation; it makes progress whenever a thread of this
//! process polls.
//!
//! May use: collective, spanning operations, comm. Must never: wait.

pub mod request;
