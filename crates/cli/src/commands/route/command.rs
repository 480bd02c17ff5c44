//! `evenkeel route`: forwarding tables for irregular networks, and what they are worth.

use super::*;
use crate::errors::Failure;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

/// Forwarding tables for irregular networks: compute, prove and compare them, and see what they are
/// worth under traffic
#[derive(Debug, Args)]
pub struct Route {
    #[command(subcommand)]
    pub task: RouteTask,
}

#[derive(Debug, Subcommand)]
pub enum RouteTask {
    Generate(Box<super::arguments::Generate>),
    Compute(Box<super::arguments::Compute>),
    Check(Box<super::arguments::Check>),
    Compare(Box<super::arguments::Compare>),
    Simulate(Box<simulate::arguments::Simulate>),
    Plan(plan::command::Plan),
    Reconfigure(reconfigure::command::Reconfigure),
    Application(application::command::Application),
}

/// What is printed, and whether what was looked at is right.
#[derive(Debug)]
pub struct Verdict {
    pub text: String,
    pub right: bool,
}

/// Does what was asked.
pub fn route(arguments: &Route) -> Result<Verdict, Failure> {
    let text = match &arguments.task {
        RouteTask::Check(arguments) => return check::command::check(arguments),
        RouteTask::Plan(arguments) => return plan::command::act(arguments),
        RouteTask::Generate(arguments) => generate::command::generate(arguments)?,
        RouteTask::Compute(arguments) => compute::command::compute(arguments)?,
        RouteTask::Compare(arguments) => compare::command::compare(arguments)?,
        RouteTask::Simulate(arguments) => simulate::command::simulate(arguments)?,
        RouteTask::Reconfigure(arguments) => reconfigure::command::act(arguments)?,
        RouteTask::Application(arguments) => application::command::act(arguments)?,
    };
    Ok(Verdict { text, right: true })
}

pub(crate) fn refuse(why: String) -> Failure {
    Failure::Route { why: why.trim_end_matches('.').into() }
}

/// Of a number of tasks with 1000 steps each; on standard error, and only on a terminal.
pub(crate) fn progress_bar(tasks: u64) -> ProgressBar {
    let bar = ProgressBar::new(tasks * 1000);
    bar.set_style(
        ProgressStyle::with_template("{spinner} {msg} {bar:40} {percent}%, {eta} left")
            .expect("a constant template"),
    );
    bar
}

/// A directory that goes when it is dropped.
pub(crate) fn scratch() -> Result<tempfile::TempDir, Failure> {
    tempfile::Builder::new()
        .prefix("evenkeel-")
        .tempdir()
        .map_err(|e| refuse(format!("no directory for OpenSM's files can be made: {e}")))
}
