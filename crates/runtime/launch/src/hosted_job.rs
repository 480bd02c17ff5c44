//! This host's part of a job that runs on several, and what its node process and its launcher tell each
//! other.

use crate::job::{Job, OutputStyle, StandardInput};
use crate::rank_place::RankPlace;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::time::Duration;

/// What is in front of each line of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostLabel {
    /// Nothing.
    None,
    /// The rank: `[3] text`.
    Rank,
    /// The host, and which of its processes if there are several: `[node1] text`, `[node1 2] text`.
    Host,
}

/// What runs on one host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostedJob {
    /// A name that no other job has, of a to z and digits.
    pub name: String,
    /// This host, for people.
    pub host: String,
    /// Its number among the hosts of the job.
    pub host_number: u32,
    /// The program's file.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// All of the processes' environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where they run.
    pub directory: OsString,
    /// Number of processes here.
    pub ranks: u32,
    /// The first one's rank.
    pub first_rank: u32,
    /// Ranks on all hosts.
    pub all_ranks: u32,
    /// Which ranks are on which host, as PMI-1 says it.
    pub mapping: String,
    /// Whether these are ranks of an MPI program; else commands.
    pub is_mpi: bool,
    /// What is in front of their output.
    pub label: HostLabel,
    /// Whether the first of them reads this launcher's standard input.
    pub reads_input: bool,
    /// See [`Job::grace`](crate::Job::grace), milliseconds.
    pub grace_ms: u64,
    /// See [`Job::keep_going`](crate::Job::keep_going).
    pub keep_going: bool,
    /// How long the node process may be silent before the launcher kills what it has started, milliseconds.
    pub patience_ms: u64,
}

impl HostedJob {
    /// What a rank finds in its environment beside the variables of its launcher. `local` counts on this
    /// host.
    pub(crate) fn variables(&self, local: u32) -> Vec<(OsString, OsString)> {
        if !self.is_mpi {
            return Vec::new();
        }
        let place = RankPlace {
            rank: self.first_rank + local,
            all_ranks: self.all_ranks,
            local_rank: local,
            local_ranks: self.ranks,
        };
        place.variables().collect()
    }

    /// The part as a job of this host.
    pub(crate) fn job(&self) -> Job {
        Job {
            ranks: self.ranks,
            program: self.program.clone().into(),
            arguments: self.arguments.clone(),
            variables: Vec::new(),
            pmix: None,
            output: OutputStyle::Lines,
            input: if self.reads_input { StandardInput::First } else { StandardInput::None },
            grace: Duration::from_millis(self.grace_ms),
            keep_going: self.keep_going,
        }
    }

    /// A process, for people.
    pub(crate) fn name_of(&self, local: u32) -> String {
        match (self.is_mpi, self.ranks) {
            (true, _) => format!("rank {} on {}", self.first_rank + local, self.host),
            (false, 1) => format!("the command on {}", self.host),
            (false, _) => format!("command {local} on {}", self.host),
        }
    }

    /// What is in front of the lines of a process.
    pub(crate) fn label_of(&self, local: u32) -> String {
        match (self.label, self.ranks) {
            (HostLabel::None, _) => String::new(),
            (HostLabel::Rank, _) => format!("[{}] ", self.first_rank + local),
            (HostLabel::Host, 1) => format!("[{}] ", self.host),
            (HostLabel::Host, _) => format!("[{} {local}] ", self.host),
        }
    }
}

/// What a node tells its launcher.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Start the job. It is the first order, and comes once.
    Run(Box<HostedJob>),
    /// Keys and values of all ranks at the barrier that the ranks here are in.
    Values(Vec<(String, String)>),
    /// Send a signal of the user's to all processes; one that ends programs ends the job.
    Signal(i32),
    /// End the job: a process on another host has failed, or the host is lost.
    End {
        /// Whether processes have time to end by themselves first.
        is_patient: bool,
    },
    /// Kill all that has been started.
    Kill,
    /// The node lives. It says so ten times within the patience.
    Alive,
}

/// What a launcher tells its node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// All ranks here are in a barrier. These are the keys and values that they have put since the last one.
    Values(Vec<(String, String)>),
    /// A process has failed.
    Failed {
        /// The exit code of the job if this is the cause of its end.
        code: u8,
        /// A sentence that names rank and host.
        text: String,
        /// Whether the others may go on for a while.
        is_patient: bool,
        /// Whether it ends nothing.
        is_only_noted: bool,
        /// Whether it ended because another process had failed.
        is_consequence: bool,
    },
    /// Nothing of the job is left here, and all of its output has been written.
    Ended,
}
