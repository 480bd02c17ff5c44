//! How the nodes of a communicator carry one collective out among themselves.

pub mod buffer;
pub mod run;
pub mod schedule;
