//! `evenkeel cluster scenario`: four small workloads beside published results.

mod arguments;
mod command;
mod result;
mod table;

pub use arguments::ScenarioArguments;
pub use command::scenario;
