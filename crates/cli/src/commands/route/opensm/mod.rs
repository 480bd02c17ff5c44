//! OpenSM on a simulated subnet.

pub mod subnet;
