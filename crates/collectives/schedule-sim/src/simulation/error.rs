//! Why something cannot be simulated.

use crate::noise::NoiseError;

/// Why something cannot be simulated. Each message says what failed, why, and what to do.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Some message takes no time.
    #[error(
        "cannot simulate a machine without latency: there would be no order of events. Give every link \
         between ranks a latency of at least a picosecond."
    )]
    NoLatency,
    /// The ranks, with their flags and counters, or the calls need too much memory.
    #[error(
        "cannot simulate {calls} calls of {algorithm} with {ranks} ranks: with {per_rank} flags and counters \
         per rank they take {gib} GiB in all, and {most} GiB is the most. Take fewer ranks, fewer calls, or \
         another algorithm."
    )]
    Memory {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The number of ranks.
        ranks: u32,
        /// The number of calls.
        calls: u32,
        /// Flags and counters of a rank, in all banks.
        per_rank: u64,
        /// The memory for all ranks and calls, in GiB.
        gib: u64,
        /// The limit, in GiB.
        most: u64,
    },
    /// The noise leaves no time for work.
    #[error("cannot simulate this noise: {0}. Choose longer intervals or shorter detours.")]
    Noise(NoiseError),
    /// A fault is to happen to a rank that does not exist.
    #[error(
        "cannot disturb rank {rank}: there are {ranks} ranks, and the last is {last}. Name one of them.",
        last = ranks - 1
    )]
    NoRank {
        /// The rank that was named.
        rank: u32,
        /// The number of ranks.
        ranks: u32,
    },
}
