//! What a job asks for, what a machine has, and why a job is not placed. May use: identifiers.

use crate::identifiers::{Core, JobId};

/// What a job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The job.
    pub job: JobId,
    /// Its ranks; each gets a core.
    pub ranks: usize,
    /// The memory of each rank in bytes. It is held while the job exists, also in slots of other jobs.
    pub memory_bytes: u64,
    /// Its share of time relative to other jobs, at least 1: a job of weight 3 gets three times the quanta
    /// of one of weight 1.
    pub weight: u32,
    /// The first and the last core that it may use. None: all.
    pub within: Option<(Core, Core)>,
}

impl Request {
    /// A request of weight 1 for any cores, whose memory is not counted.
    pub const fn new(job: JobId, ranks: usize) -> Request {
        Request { job, ranks, memory_bytes: 0, weight: 1, within: None }
    }

    /// Whether the job may use a core.
    pub fn allows(&self, core: Core) -> bool {
        self.within.is_none_or(|(first, last)| (first..=last).contains(&core))
    }
}

/// A machine of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its cores.
    pub cores: usize,
    /// The bytes that all jobs on it may hold together. None: no limit.
    pub memory_bytes: Option<u64>,
}

impl Machine {
    /// A machine whose memory is not counted.
    pub const fn with_cores(cores: usize) -> Machine {
        Machine { cores, memory_bytes: None }
    }
}

/// Why a job is not placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// Not even an empty matrix has these cores or this memory.
    #[error("the job needs more cores or more memory than the machines have")]
    NeverFits,
    /// All slots in which it could go are taken on too many cores. It can wait.
    #[error("no slot has enough free cores")]
    NoCores,
    /// Cores are free, but the jobs on their machines hold the memory. It can wait.
    #[error("the machines whose cores are free have not enough free memory")]
    NoMemory,
    /// The job is in the matrix.
    #[error("the job is in the matrix already")]
    AlreadyPlaced,
    /// A job needs at least one rank and a weight of at least 1.
    #[error("a job needs at least one rank, and a weight of at least 1")]
    Empty,
}

impl PlaceError {
    /// Whether the job may fit later.
    pub fn is_temporary(self) -> bool {
        matches!(self, PlaceError::NoCores | PlaceError::NoMemory)
    }
}
