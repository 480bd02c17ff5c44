//! Every sentence with which evenkeel refuses, one file per subject, and the exit code of each.
//!
//! A sentence has four parts: what failed, on which file, rank or host, why as far as known, and what to do.
//! It is printed on standard error behind `evenkeel: `. May use: the errors of the crates below. Must never:
//! use another module of this crate, print, or decide anything beyond the exit code.

mod cluster;
mod debug;
mod file;
mod injection;
mod job;
mod launch;
mod measurement;
mod metrics;
mod model;
mod plot;
mod program;
mod route;
mod schedule;
mod simulation;
mod terminal;
mod tune;

pub use cluster::ClusterError;
pub use debug::DebugError;
pub use file::FileError;
pub use injection::{InjectionError, InjectionSyntaxError};
pub use job::JobError;
pub use launch::LaunchError;
pub use measurement::MeasurementError;
pub use metrics::MetricsError;
pub use model::ModelError;
pub use plot::PlotError;
pub use program::ProgramError;
pub use route::{OpenSmError, RouteError, RouteReason};
pub use schedule::ScheduleError;
pub use simulation::{ArgumentSyntaxError, NoiseFileError, SimulationError};
pub use terminal::TerminalError;
pub use tune::TuneError;

use thiserror::Error;

/// evenkeel could not do what was asked; a program that was named for it was never started.
pub const EXIT_REFUSED: u8 = 125;
/// The program is there but cannot be executed.
pub const EXIT_NOT_EXECUTABLE: u8 = 126;
/// The program, or the interpreter that it asks for, was not found.
pub const EXIT_NOT_FOUND: u8 = 127;

/// Why a command was not carried out.
///
/// Exit codes are those of env(1), timeout(1) and nohup(1): [`EXIT_REFUSED`], [`EXIT_NOT_EXECUTABLE`],
/// [`EXIT_NOT_FOUND`]. Wrong usage, which clap reports, ends with 2. Once the launcher runs, the exit code is
/// the launcher's, because evenkeel has become the launcher.
#[derive(Debug, Error)]
pub enum CommandError {
    /// The program that was named.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The shim, the launcher, or the environment of the ranks.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A file that was to be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// `evenkeel run --inject`.
    #[error(transparent)]
    Injection(#[from] InjectionError),
    /// `evenkeel where`, `evenkeel top`.
    #[error(transparent)]
    Job(#[from] JobError),
    /// `evenkeel top`.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// `evenkeel metrics`.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// `evenkeel debug`.
    #[error(transparent)]
    Debug(#[from] DebugError),
    /// `evenkeel noise`, `evenkeel model measure`, `evenkeel tune`.
    #[error(transparent)]
    Measurement(#[from] MeasurementError),
    /// Sets of model parameters.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// `evenkeel schedule`.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// `evenkeel simulate`.
    #[error("cannot simulate this: {0}. `evenkeel simulate --help` shows examples.")]
    Simulation(#[from] SimulationError),
    /// `evenkeel tune`.
    #[error(transparent)]
    Tune(#[from] TuneError),
    /// `evenkeel cluster`.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// `evenkeel route`.
    #[error(transparent)]
    Route(#[from] RouteError),
}

impl From<RouteReason> for CommandError {
    fn from(reason: RouteReason) -> CommandError {
        RouteError::from(reason).into()
    }
}

impl CommandError {
    /// The exit code of the `evenkeel` program.
    pub fn exit_code(&self) -> u8 {
        match self {
            CommandError::Program(error) => error.exit_code(),
            _ => EXIT_REFUSED,
        }
    }
}
