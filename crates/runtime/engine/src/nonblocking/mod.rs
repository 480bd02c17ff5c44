//! Nonblocking collectives.

pub mod request;
