//! Carries out `evenkeel schedule`.

use super::arguments::{ScheduleArguments, ScheduleCommand};
use super::{check, gallery, list, show};
use crate::errors::CommandError;
use crate::output::terminal;

/// Carries a subcommand out and returns what is printed.
pub fn schedule(arguments: &ScheduleArguments) -> Result<String, CommandError> {
    match &arguments.command {
        ScheduleCommand::List(arguments) => Ok(list::list(arguments, terminal::width())?),
        ScheduleCommand::Show(arguments) => show::show(arguments, terminal::width()),
        ScheduleCommand::Check(arguments) => Ok(check::check(arguments)?),
        ScheduleCommand::Gallery(arguments) => gallery::write_gallery(arguments),
    }
}
