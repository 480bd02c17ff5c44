//! Measures the shared memory of this machine.

pub mod pass;
pub mod ranks;
pub mod signal_memory;
