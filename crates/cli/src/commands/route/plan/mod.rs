//! `evenkeel route plan`: from today's tables to tomorrow's without stopping traffic, as files for OpenSM.

mod arguments;
mod command;
mod rehearsal;

pub use arguments::PlanArguments;
pub use command::plan;
