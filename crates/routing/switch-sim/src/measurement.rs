//! Measurements: points of latency-throughput curves with confidence intervals, and throughput.
//!
//! May use: the simulator and traffic. Must never: change what the simulator does.

mod interval;
mod load_point;
mod parallel;
mod throughput;

pub use interval::Interval;
pub use load_point::{LoadPoint, StoppingRules, measure};
pub use parallel::run_parallel;
pub use throughput::{Experiment, Throughput, throughput};
