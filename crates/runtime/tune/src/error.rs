//! Why a rank could not take part in a measurement.

use evenkeel_engine::barrier::flag_layout::UnsupportedScheduleError;
use evenkeel_schedule::ScheduleError;
use thiserror::Error;

/// Why a rank could not take part in a measurement. The messages have no full stop at the end.
#[derive(Debug, Error)]
pub enum RankError {
    /// The starter has closed the rank's input.
    #[error("the process that started this rank has ended")]
    StarterEnded,
    /// The starter sent something else than the handshake demands.
    #[error(
        "the process that started this rank sent `{line}`, which is not what comes next in the handshake"
    )]
    NotUnderstood {
        /// The line, without its end.
        line: String,
    },
    /// The starter cannot be written to.
    #[error("cannot write to the process that started this rank: {0}")]
    Write(std::io::Error),
    /// The engine could not map one segment into all ranks.
    #[error("the ranks could not share memory")]
    NoSharedMemory,
    /// The task names a schedule that cannot be made.
    #[error("{}", .0.to_string().trim_end_matches('.'))]
    Schedule(ScheduleError),
    /// The task names a schedule that the engine cannot run.
    #[error("the engine cannot run {name}: {error}")]
    NotRunnable {
        /// The name of the schedule.
        name: String,
        /// The engine's reason.
        error: UnsupportedScheduleError,
    },
    /// There is a schedule too many.
    #[error("there is no room for all communicators in the shared memory")]
    SegmentFull,
}
