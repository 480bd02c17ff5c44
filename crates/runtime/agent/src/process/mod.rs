//! The agent as a process: its loop, its sleep, and which nodes and ranks still live.

pub mod agent;
pub mod counts;
pub mod idle_strategy;
pub mod liveness;
