//! Carries out `evenkeel model`.

use super::arguments::{ModelArguments, ModelCommand};
use super::{list, measure, show};
use crate::errors::CommandError;
use crate::output::terminal;

/// Carries a subcommand out and returns what is printed.
pub fn model(arguments: &ModelArguments) -> Result<String, CommandError> {
    match &arguments.command {
        ModelCommand::Measure(arguments) => measure::measure(arguments),
        ModelCommand::Show(arguments) => Ok(show::show(arguments, terminal::width())?),
        ModelCommand::List => Ok(list::list(terminal::width())),
        ModelCommand::Rank(arguments) => Ok(measure::serve_rank(arguments).map(|()| String::new())?),
        ModelCommand::Node => Ok(measure::serve_node().map(|()| String::new())?),
    }
}
