//! Carries out `evenkeel route`.

use super::application::application;
use super::arguments::{RouteArguments, RouteCommand};
use super::check::check;
use super::compare::compare;
use super::compute::compute;
use super::generate::generate;
use super::plan::plan;
use super::reconfigure::reconfigure;
use super::simulate::simulate;
use crate::errors::CommandError;
use crate::output::outcome::Outcome;

/// Carries a subcommand out. Tables that are wrong, and a plan that goes wrong in its rehearsal, are no
/// success.
pub fn route(arguments: &RouteArguments) -> Result<Outcome, CommandError> {
    Ok(match &arguments.command {
        RouteCommand::Check(arguments) => check(arguments)?,
        RouteCommand::Plan(arguments) => plan(arguments)?,
        RouteCommand::Generate(arguments) => generate(arguments)?.into(),
        RouteCommand::Compute(arguments) => compute(arguments)?.into(),
        RouteCommand::Compare(arguments) => compare(arguments)?.into(),
        RouteCommand::Simulate(arguments) => simulate(arguments)?.into(),
        RouteCommand::Reconfigure(arguments) => reconfigure(arguments)?.into(),
        RouteCommand::Application(arguments) => application(arguments)?.into(),
    })
}
