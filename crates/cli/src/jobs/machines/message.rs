//! What is asked and answered, in lines of JSON.

use crate::jobs::discovery::Job;
use crate::jobs::observation::Observation;
use crate::jobs::stacks::RankStack;
use serde::{Deserialize, Serialize};

/// A job, as the title of what is said about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobHead {
    /// Tells it from other jobs, on all machines; None if no rank tells.
    pub number: Option<u64>,
    /// The launcher, or the lowest rank there if that is not known.
    pub id: u32,
    /// The MPI library, by its own name.
    pub library: Option<String>,
    /// The program that the ranks run.
    pub program: String,
    /// How many ranks the job has, on all machines.
    pub ranks_in_all: usize,
    /// The hosts of its nodes; none if it has one node.
    pub hosts: Vec<String>,
    /// The `evenkeel run` that has started it, if that watches it.
    pub run: Option<String>,
}

impl JobHead {
    /// That of a job on this machine.
    pub fn of(job: &Job) -> JobHead {
        JobHead {
            number: job.number(),
            id: job.id,
            library: job.library(),
            program: job.program(),
            ranks_in_all: job.ranks_in_all,
            hosts: job.hosts(),
            run: job.run(),
        }
    }
}

/// The first line of a responder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduction {
    /// Version of evenkeel.
    pub version: String,
    /// The host's own name.
    pub host: String,
    /// The jobs there.
    pub jobs: Vec<JobHead>,
    /// Why others there cannot be looked at.
    pub refused: Vec<String>,
}

/// What a responder is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Take the first look at the job with this number. Answered by [`Looked`].
    FirstLook(u64),
    /// Take the second look. Answered by [`Seen`].
    SecondLook,
    /// The stacks of these ranks, as of the second look. Answered by a list of [`RankStack`].
    Stacks(Vec<u32>),
}

/// The first look has been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// False: the job is not there any more.
    pub is_there: bool,
}

/// What both looks have seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The ranks there.
    pub observation: Observation,
    /// Processor time that both looks have taken, in seconds.
    pub cpu_seconds: f64,
}

/// The stacks of some ranks.
pub type Stacks = Vec<RankStack>;
