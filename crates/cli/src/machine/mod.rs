//! What this machine allows: cores, quotas, processes.

pub mod limits;
pub mod processor_time;
