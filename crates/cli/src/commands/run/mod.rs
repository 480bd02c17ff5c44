//! `evenkeel run`: from a program's name to the launcher that this process becomes.

mod arguments;
mod checking;
mod child;
mod command;
mod deadlock_watch;
mod expected_report;
mod hang_report;
mod named_hosts;
mod rank_count;
mod searches;
mod sharing;
mod stray_variables;
mod supervision;

pub use arguments::RunArguments;
pub use command::run;
