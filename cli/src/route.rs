//! `evenkeel route`: forwarding tables for irregular networks, and what they are worth.

pub mod simulate;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Forwarding tables for irregular networks: what they are worth under traffic
#[derive(Debug, Args)]
pub struct Route {
    #[command(subcommand)]
    pub task: RouteTask,
}

#[derive(Debug, Subcommand)]
pub enum RouteTask {
    Simulate(Box<simulate::Simulate>),
}

/// Does what was asked, and returns what is printed.
pub fn route(arguments: &Route) -> Result<String, Failure> {
    match &arguments.task {
        RouteTask::Simulate(arguments) => simulate::simulate(arguments),
    }
}
