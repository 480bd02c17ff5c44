//! Measurements of simulated networks.

mod interval;
mod load_point;
mod throughput;

pub use interval::Interval;
pub use load_point::{Point, Rules, measure};
pub use throughput::{Job, Throughput, run_jobs, throughput};
