//! Barriers: entered and waited for, run by a schedule, or left pending.

pub mod central;
pub mod program;
pub mod scheduled;
pub mod trial;
