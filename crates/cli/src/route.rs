//! `evenkeel route`: forwarding tables for irregular networks, and what they are worth.

pub mod application;
pub mod arguments;
mod check;
mod compare;
mod compute;
mod generate;
mod opensm;
pub mod plan;
mod read;
pub mod reconfigure;
mod rehearse;
mod runs;
mod scheme;
mod show;
pub mod simulate;

use crate::failure::Failure;
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
    Generate(Box<arguments::Generate>),
    Compute(Box<arguments::Compute>),
    Check(Box<arguments::Check>),
    Compare(Box<arguments::Compare>),
    Simulate(Box<simulate::Simulate>),
    Plan(plan::Plan),
    Reconfigure(reconfigure::Reconfigure),
    Application(application::Application),
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
        RouteTask::Check(arguments) => return check::check(arguments),
        RouteTask::Plan(arguments) => return plan::act(arguments),
        RouteTask::Generate(arguments) => generate::generate(arguments)?,
        RouteTask::Compute(arguments) => compute::compute(arguments)?,
        RouteTask::Compare(arguments) => compare::compare(arguments)?,
        RouteTask::Simulate(arguments) => simulate::simulate(arguments)?,
        RouteTask::Reconfigure(arguments) => reconfigure::act(arguments)?,
        RouteTask::Application(arguments) => application::act(arguments)?,
    };
    Ok(Verdict { text, right: true })
}

fn refuse(why: String) -> Failure {
    Failure::Route { why: why.trim_end_matches('.').into() }
}

/// Of a number of tasks with 1000 steps each; on standard error, and only on a terminal.
fn progress_bar(tasks: u64) -> ProgressBar {
    let bar = ProgressBar::new(tasks * 1000);
    bar.set_style(
        ProgressStyle::with_template("{spinner} {msg} {bar:40} {percent}%, {eta} left")
            .expect("a constant template"),
    );
    bar
}

/// A directory that goes when it is dropped.
fn scratch() -> Result<tempfile::TempDir, Failure> {
    tempfile::Builder::new()
        .prefix("evenkeel-")
        .tempdir()
        .map_err(|e| refuse(format!("no directory for OpenSM's files can be made: {e}")))
}
