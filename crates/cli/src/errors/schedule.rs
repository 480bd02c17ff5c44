//! A schedule cannot be listed, shown or checked.

use evenkeel_schedule::check::CheckError;
use thiserror::Error;

/// Why `evenkeel schedule` refuses.
#[derive(Debug, Error)]
pub enum ScheduleError {
    /// A name that no algorithm has.
    #[error("cannot find the algorithm `{name}`{suggestion}. `evenkeel schedule list` lists all.")]
    NoAlgorithm {
        /// As given.
        name: String,
        /// Empty, or names that are like it.
        suggestion: String,
    },

    /// `--param` without a value.
    #[error("cannot read --param `{given}`: it has no value. Write NAME=VALUE.")]
    NoValue {
        /// As given.
        given: String,
    },

    /// `--steps` of a rank that is not there.
    #[error(
        "cannot show the steps of rank {rank}: there are {ranks} ranks, and the last is {}. Name one of \
         them.",
        ranks - 1
    )]
    NoSuchRank {
        /// As given.
        rank: u32,
        /// The number of ranks.
        ranks: u32,
    },

    /// The schedule crate refuses the parameters.
    #[error(transparent)]
    Refused(#[from] evenkeel_schedule::ScheduleError),

    /// The check would take too much memory.
    #[error(
        "cannot count {algorithm} with {ranks} ranks: keeping account of which rank knows what would take \
         more than {gib} GiB. Ask for fewer ranks or elements, or for another operation; `evenkeel simulate` \
         goes further."
    )]
    TooLargeToCheck {
        /// The algorithm.
        algorithm: &'static str,
        /// The number of ranks.
        ranks: u32,
        /// The memory that may be used.
        gib: u64,
    },

    /// The checker found a fault.
    #[error(
        "{what} is wrong: {error}. Look at the algorithm's file in \
         crates/collectives/schedule/src/algorithms."
    )]
    Wrong {
        /// The algorithm and the number of ranks.
        what: String,
        /// What the checker found.
        error: Box<CheckError>,
    },
}
