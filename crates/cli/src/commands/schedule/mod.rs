//! `evenkeel schedule`: lists, shows and checks the collective algorithms, and writes their page of the book.
//!
//! [`selection`] makes a schedule of what the arguments name; each subcommand has a file.

mod arguments;
mod check;
mod command;
mod gallery;
mod list;
mod selection;
mod show;

pub use arguments::{ScheduleArguments, ScheduleCommand};
pub use command::schedule;
