//! `evenkeel report`: shows the record of a run again.

mod arguments;
mod command;

pub use arguments::ReportArguments;
pub use command::report;
