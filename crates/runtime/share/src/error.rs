//! Why a job cannot take turns, in sentences.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a job cannot take turns.
#[derive(Debug, Error)]
pub enum ShareError {
    /// The directory of the registry is not this user's alone.
    #[error(
        "cannot share this machine's cores with other jobs: {} {why}. Remove it, or name another directory: \
         XDG_RUNTIME_DIR.",
        .path.display()
    )]
    Foreign {
        /// The directory or file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The registry holds something else.
    #[error(
        "cannot read the list of jobs that share this machine's cores, {}: {why}. If no job of yours runs \
         with --share, remove it.",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The system refused something.
    #[error("cannot share this machine's cores with other jobs: {what}: {why}. Leave --share out.")]
    System {
        /// What was asked for.
        what: String,
        /// What the system says.
        why: io::Error,
    },
    /// Another process holds the lock for long.
    #[error(
        "cannot enter this job into the list of jobs that share this machine's cores: another process has \
         locked {} for {seconds} s. Find it (`fuser {0}`), and end it.",
        .path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long this process has tried.
        seconds: u64,
    },
    /// The mechanism does not work here.
    #[error("cannot switch jobs by --switch {mechanism}: {why}. Use --switch auto.")]
    Mechanism {
        /// Its name.
        mechanism: &'static str,
        /// Why it does not work.
        why: String,
    },
    /// The job never fits.
    #[error("cannot give this job a place among those that take turns: {why}.")]
    NeverFits {
        /// What is asked for, and what there is.
        why: String,
    },
}

impl ShareError {
    /// For `map_err`.
    pub(crate) fn system<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> ShareError {
        let what = what.into();
        move |why| ShareError::System { what, why: why.into() }
    }
}
