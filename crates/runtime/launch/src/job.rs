//! What is to be run, and why it could not be.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// How the ranks' output reaches the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputStyle {
    /// Whole lines, as they come.
    #[default]
    Lines,
    /// Each line with its rank in front: `[3] text`.
    Labelled,
}

/// Which rank reads the standard input of the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StandardInput {
    /// Rank 0; the others read an empty file.
    #[default]
    First,
    /// All ranks read an empty file.
    None,
}

/// A job on this machine.
#[derive(Clone, Debug)]
pub struct Job {
    /// Number of ranks, at least 1.
    pub ranks: u32,
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables that ranks get beside those of this process.
    pub variables: Vec<(OsString, OsString)>,
    /// The `libpmix` that serves the ranks, if they speak PMIx. All can speak PMI-1.
    pub pmix: Option<PathBuf>,
    /// How output is passed on.
    pub output: OutputStyle,
    /// Who reads standard input.
    pub input: StandardInput,
    /// How long the other ranks may go on after one has failed. After SIGTERM they have four times as long
    /// before SIGKILL follows.
    pub grace: Duration,
    /// Whether the job goes on when a rank fails, for programs that survive this.
    pub keep_going: bool,
}

/// Why a job could not be run.
#[derive(Debug, Error)]
pub enum JobError {
    /// A rank's process could not be made.
    #[error("cannot start rank {rank}, {}: {why}. No rank runs any more.", .program.display())]
    Start {
        /// The rank.
        rank: u32,
        /// The program.
        program: PathBuf,
        /// What the system says.
        why: std::io::Error,
    },
    /// What the launcher's process said before it ended.
    #[error("{refused}")]
    Refused {
        /// The text of one of the other errors.
        refused: String,
    },
    /// The server of PMIx does not start.
    #[error(
        "cannot serve PMIx to the ranks with {}: {why}. Leave --launcher out, or install another PMIx.",
        .library.display()
    )]
    Pmix {
        /// The file of libpmix.
        library: PathBuf,
        /// What failed.
        why: String,
    },
    /// The kernel refused something that the launcher needs.
    #[error("cannot start a job: {what}: {why}. Use the MPI library's own launcher: --launcher mpiexec.")]
    System {
        /// What was asked for.
        what: &'static str,
        /// What the system says.
        why: std::io::Error,
    },
}

impl JobError {
    /// For `map_err`.
    pub(crate) fn system<E: Into<std::io::Error>>(what: &'static str) -> impl FnOnce(E) -> JobError {
        move |why| JobError::System { what, why: why.into() }
    }
}
