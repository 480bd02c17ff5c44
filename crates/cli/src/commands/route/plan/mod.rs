//! `evenkeel route plan`: from the current tables to new ones without stopping traffic, as files for OpenSM.

mod arguments;
mod command;
mod rehearsal;

pub use arguments::PlanArguments;
pub use command::plan;
