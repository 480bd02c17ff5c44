//! Why ranks that share cores cannot be simulated.

/// Why ranks that share cores cannot be simulated.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum SharedCoresError {
    /// The workload has something that is not simulated here.
    #[error(
        "cannot simulate {0} where ranks share cores: there, only switches of cores and work are counted. \
         Leave it out, or give each rank a core."
    )]
    Unsupported(&'static str),
    /// The calls of all orders need too much memory.
    #[error(
        "cannot simulate {calls} calls, of all orders together: they take {gib} GiB, and {most} GiB is the \
         most. Take fewer calls or orders."
    )]
    Memory {
        /// Calls of all orders together.
        calls: u64,
        /// The memory for them, in GiB.
        gib: u64,
        /// The limit, in GiB.
        most: u64,
    },
    /// No rank can continue, which happens with no correct schedule.
    #[error(
        "cannot execute the schedule: no rank can continue. `evenkeel schedule check` says what is wrong \
         with it."
    )]
    Deadlock,
}
