//! `evenkeel cluster workload`: jobs that arrive as on real machines.

mod arguments;
mod command;
mod result;
mod table;

pub use arguments::WorkloadArguments;
pub use command::workload;
