//! Carries out `evenkeel cluster`.

use super::arguments::{ClusterArguments, ClusterCommand};
use super::saturation::saturation;
use super::scenario::scenario;
use super::workload::workload;
use crate::errors::CommandError;

/// Carries a subcommand out, and returns what is printed.
pub fn cluster(arguments: &ClusterArguments) -> Result<String, CommandError> {
    match &arguments.command {
        ClusterCommand::Scenario(arguments) => scenario(arguments),
        ClusterCommand::Workload(arguments) => workload(arguments),
        ClusterCommand::Saturation(arguments) => saturation(arguments),
    }
}
