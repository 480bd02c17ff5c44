//! `evenkeel run --inject`: disturbs a run on purpose.

pub mod control_group;
pub mod injection;
pub mod injections;
pub mod injector;
pub mod rank_processes;
pub mod resume_guarantee;
pub mod span;
