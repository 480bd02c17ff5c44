//! Barriers: entered and waited for, run by a schedule, or left pending.

pub mod blocking;
pub mod deferral;
pub mod fast_path;
pub mod program;
pub mod scheduled;
pub mod trial;
