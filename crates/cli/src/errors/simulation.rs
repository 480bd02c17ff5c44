//! Something cannot be simulated.

use super::PlotError;
use std::path::PathBuf;
use thiserror::Error;

/// Why `evenkeel simulate` refuses.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// A word that a schedule's parameter does not take.
    #[error("`{value}` is not a value of `{name}` of {algorithm}")]
    ParameterValue {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        name: String,
        /// As given.
        value: String,
    },

    /// The schedule crate refuses the parameters.
    #[error("{}", without_period(.0))]
    Schedule(#[from] evenkeel_schedule::ScheduleError),

    /// The simulator refuses.
    #[error("{}", without_period(.0))]
    Refused(#[from] evenkeel_schedule_sim::SimulationError),

    /// The simulator of ranks that share cores refuses.
    #[error("{}", without_period(.0))]
    SharedCores(#[from] evenkeel_schedule_sim::SharedCoresError),

    /// A picture of several schedules.
    #[error("a picture or a transcript shows one schedule with one number of ranks")]
    SeveralPictures,

    /// A picture of too many ranks.
    #[error("a picture or a transcript of {ranks} ranks would show nothing; {most} is the most")]
    TooManyRanksToDraw {
        /// As given.
        ranks: u32,
        /// The most ranks that are drawn.
        most: u32,
    },

    /// Parameters that no machine has.
    #[error("the parameters of {name} make no sense: {why}")]
    Machine {
        /// The name of the set.
        name: String,
        /// What is wrong with it.
        why: String,
    },

    /// A fault that does not suit its option.
    #[error("{0}")]
    Fault(&'static str),

    /// `--noise` is neither a description nor a file.
    #[error(
        "`{given}` is neither a kind of noise nor a file. It must be none, LENGTH/INTERVAL, \
         periodic:LENGTH/PERIOD, aligned:LENGTH/PERIOD, or a file that `evenkeel noise --trace` has written"
    )]
    Noise {
        /// As given.
        given: String,
    },

    /// `--noise` with a part that cannot be read.
    #[error(transparent)]
    NoiseSyntax(#[from] ArgumentSyntaxError),

    /// `--noise` with a file that holds something else.
    #[error(transparent)]
    NoiseFile(#[from] NoiseFileError),

    /// Ranks share cores, and the time of a context switch is not known.
    #[error(
        "the parameters of {name} do not say how long a context switch takes. Give --switch TIME, or a \
         --machine that says it (two-core-vm, or a file of `evenkeel model measure` with more ranks than \
         cores)"
    )]
    NoSwitchTime {
        /// The name of the set.
        name: String,
    },

    /// `--switch 0`.
    #[error(
        "context switches that take no time (--switch 0) would leave the order of events open. Give at \
         least a picosecond"
    )]
    ZeroSwitchTime,

    /// The plot library refuses.
    #[error("the plot could not be drawn ({0})")]
    Plot(PlotError),
}

/// Why a trace of noise cannot be read.
#[derive(Debug, Error)]
#[error("{} cannot be read: {why}. `evenkeel noise --trace FILE` writes such files", .file.display())]
pub struct NoiseFileError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// Why an argument of `evenkeel simulate` cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ArgumentSyntaxError {
    /// A name that no algorithm has.
    #[error("there is no schedule `{name}`; {suggestion}")]
    NoSchedule {
        /// As given.
        name: String,
        /// Names that are like it, or where all are listed.
        suggestion: String,
    },
    /// A parameter without a value.
    #[error("`{0}` is not a parameter: it must be NAME=VALUE")]
    Parameter(String),
    /// A model parameter without a time.
    #[error("`{0}` is not a parameter: it must be NAME=TIME")]
    ModelParameter(String),
    /// A model parameter that is not known.
    #[error("`{0}` is not a parameter: there are L, o, os, or, g and G")]
    UnknownModelParameter(String),
    /// A number of ranks that cannot be simulated.
    #[error("`{word}` is not a number of ranks: it must be between 1 and {most}")]
    RankCount {
        /// As given.
        word: String,
        /// The most that fit into memory.
        most: u32,
    },
    /// A list of numbers of ranks that is empty.
    #[error("`{0}` contains no number of ranks")]
    NoRankCount(String),
    /// Not RANK=WHAT.
    #[error("`{0}` must be a rank, `=`, and what happens to it")]
    RankFault(String),
    /// A factor that is 0 or less.
    #[error("`{0}` is not a factor: it must be above 0")]
    Factor(String),
    /// Periodic noise without a period.
    #[error("`{0}` lacks a period: periodic:LENGTH/PERIOD")]
    NoPeriod(String),
    /// A time or a span of time.
    #[error("{0}")]
    Time(String),
}

/// A sentence of another crate as a part of one of ours.
fn without_period(error: &dyn std::error::Error) -> String {
    error.to_string().trim_end_matches('.').to_string()
}
