//! What is to be run, and where.

use crate::remote_shell::RemoteShell;
use crate::sent_file::SentFile;
use evenkeel_launch::HostLabel;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use thiserror::Error;

/// Whose standard input is that of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputChoice {
    /// The first process of the first host; the others read an empty file.
    First,
    /// The first process of every host.
    All,
    /// No process.
    None,
}

/// One host of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its name, as the user gave it.
    pub host: String,
    /// Its number among the hosts of the job, from 0 on.
    pub number: u32,
    /// How many processes run there.
    pub ranks: u32,
    /// The rank of the first one.
    pub first_rank: u32,
}

/// What runs on all hosts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostJob {
    /// The program, as the user gave it; without a slash it is searched for in the `PATH` of `environment`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its environment, but for what belongs to each host.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: OsString,
    /// Further files that must be there on every host.
    pub files: Vec<OsString>,
    /// Files that every host is sent. Where their paths stand, in the command or above, those on the host
    /// take their place.
    pub sent: Vec<SentFile>,
    /// Whether these are ranks of an MPI program.
    pub is_mpi: bool,
    /// What is in front of each line of output.
    pub label: HostLabel,
    /// Who reads standard input.
    pub input: InputChoice,
    /// How long the others may go on when a process has failed, milliseconds.
    pub grace_ms: u64,
    /// Whether they go on altogether.
    pub keep_going: bool,
}

/// How nodes are started and connected.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeSettings {
    /// The way to a host.
    pub shell: RemoteShell,
    /// How many nodes one node starts at most.
    pub fanout: usize,
    /// How long a node may stay silent, milliseconds.
    pub patience_ms: u64,
    /// See the option `--network`.
    pub network: String,
    /// See the option `--ports`; 0 to 0: any port that is free.
    pub ports: (u16, u16),
    /// How long the start of one node may take, milliseconds.
    pub start_time_ms: u64,
}

/// Why a job on several hosts could not be run. Nothing of it was started.
#[derive(Debug, Error)]
pub enum NodeError {
    /// Hosts refuse, with a sentence each.
    #[error("{}", .0.join("\nevenkeel: "))]
    Refused(Vec<String>),
    /// The kernel refused something.
    #[error("cannot start a job on several hosts: {what}: {why}.")]
    System {
        /// What was asked for.
        what: &'static str,
        /// What the system says.
        why: std::io::Error,
    },
}

impl HostJob {
    /// Whether nodes deeper in the tree read the client's standard input, too.
    pub(crate) fn relays_input(&self) -> bool {
        self.input == InputChoice::All
    }
}

/// Which ranks are on which host, as PMI-1 says it: blocks of (first host, hosts, ranks on each).
pub(crate) fn mapping(places: &[Place]) -> String {
    let mut blocks: Vec<(usize, usize, u32)> = Vec::new();
    for (number, place) in places.iter().enumerate() {
        match blocks.last_mut() {
            Some((_, hosts, ranks)) if *ranks == place.ranks => *hosts += 1,
            _ => blocks.push((number, 1, place.ranks)),
        }
    }
    let blocks: Vec<String> =
        blocks.iter().map(|(first, hosts, ranks)| format!("({first},{hosts},{ranks})")).collect();
    format!("(vector,{})", blocks.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_as_many_ranks_are_one_block() {
        let places = |ranks: &[u32]| -> Vec<Place> {
            ranks
                .iter()
                .map(|ranks| Place { host: "h".into(), number: 0, ranks: *ranks, first_rank: 0 })
                .collect()
        };
        assert_eq!(mapping(&places(&[4, 4, 4])), "(vector,(0,3,4))");
        assert_eq!(mapping(&places(&[2, 1, 1])), "(vector,(0,1,2),(1,2,1))");
    }
}
