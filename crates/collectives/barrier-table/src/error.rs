//! Why a table is not used.

use evenkeel_schedule::ScheduleError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a table is not used. The built-in barrier is used then. The messages have no full stop at the end.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file cannot be read.
    #[error(
        "cannot read the table {}: {why}; the built-in barrier is used. Name a file that `evenkeel tune` has \
         written, or say --table none",
        .path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason that the system gives.
        why: String,
    },
    /// The file is not a table that the engine can use.
    #[error(
        "cannot use the table {}: {why}; the built-in barrier is used. Write it anew with `evenkeel tune`",
        .path.display()
    )]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The table was made on another machine.
    #[error(
        "the table {} is of another machine (it says `{theirs}`, this is `{ours}`); the built-in barrier is \
         used. Make one for this machine with `evenkeel tune`",
        .path.display()
    )]
    OtherMachine {
        /// The file.
        path: PathBuf,
        /// The processor of the machine that was measured.
        theirs: String,
        /// The processor of this machine.
        ours: String,
    },
}

/// What is wrong with the text of a table. The messages have no full stop at the end.
#[derive(Debug, Error)]
pub enum TableFormatError {
    /// It is not JSON.
    #[error("it is not JSON ({0})")]
    NotJson(serde_json::Error),
    /// It has no number of a layout.
    #[error("it is JSON, but no table")]
    NoSchema,
    /// It has another layout.
    #[error("its layout is number {found}, and this evenkeel knows number {known}")]
    Schema {
        /// The number of its layout.
        found: u64,
        /// The number that is known.
        known: u32,
    },
    /// It has the number of the layout, but other fields.
    #[error("it is no table ({0})")]
    NotATable(serde_json::Error),
    /// An entry is for a collective that the engine runs no schedules of.
    #[error(
        "its entry for {operation} with {ranks} ranks is for an operation that the engine runs no schedules \
         of"
    )]
    NotSupported {
        /// The name of the collective.
        operation: String,
        /// The ranks of the entry.
        ranks: u32,
    },
    /// An entry names an algorithm for another collective.
    #[error("its entry for {ranks} ranks names {algorithm}, which is no barrier")]
    NotABarrier {
        /// The ranks of the entry.
        ranks: u32,
        /// The name of the algorithm.
        algorithm: &'static str,
    },
    /// An entry names a schedule that cannot be made.
    #[error("its entry for {ranks} ranks is not valid: {}", .error.to_string().trim_end_matches('.'))]
    Schedule {
        /// The ranks of the entry.
        ranks: u32,
        /// Why the schedule cannot be made.
        error: ScheduleError,
    },
}
