//! What `evenkeel where --json` prints.

use super::stack_record::StacksRecord;
use crate::jobs::findings::{Finding, FindingKind};
use crate::jobs::machines::{LeftOut, WholeJob};
use crate::jobs::observation::{Observation, RankView, Standing};
use crate::jobs::rank::{Call, Peer, Tag};
use crate::jobs::stacks::TakenStacks;
use serde::Serialize;

/// A job, as it was looked at.
#[derive(Serialize)]
pub struct JobStanding<'a> {
    /// The launcher.
    job: u32,
    library: Option<&'a str>,
    program: &'a str,
    ranks_in_all: usize,
    /// The machines that were looked at.
    hosts: &'a [String],
    /// Those that could not be.
    left_out: Vec<LeftOutRecord<'a>>,
    /// A deadlock is proved.
    deadlock: bool,
    findings: &'a [Finding],
    ranks: Vec<RankStanding<'a>>,
    /// With `--stacks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stacks: Option<StacksRecord<'a>>,
}

/// A machine that could not be looked at.
#[derive(Serialize)]
struct LeftOutRecord<'a> {
    host: &'a str,
    why: &'a str,
}

/// A rank, as it was looked at.
#[derive(Serialize)]
struct RankStanding<'a> {
    rank: u32,
    host: &'a str,
    pid: Option<u32>,
    /// `waiting` (in one call all the time), `going-on`, `outside`, `finished` or `exited`.
    standing: &'static str,
    /// What the kernel says: `running`, `sleeping`, `uninterruptible`, `paging`, `stopped`, `traced`,
    /// `exited`.
    process: &'static str,
    /// The same in words, with the system call.
    process_words: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallStanding<'a>>,
}

/// A call of MPI.
#[derive(Serialize)]
struct CallStanding<'a> {
    name: &'a str,
    /// Its name; empty if it has none.
    communicator: Option<&'a str>,
    size: Option<usize>,
    /// World rank, or `any`.
    peer: Option<String>,
    /// A number, or `any`.
    tag: Option<String>,
    /// `evenkeel` or `library`.
    carried_by: &'static str,
    /// For how long; None if it is not known.
    seconds: Option<f64>,
    /// Which blocking collective of the communicator it is.
    ordinal: Option<u64>,
    /// World ranks whose contributions are missing.
    waits_for: Option<&'a [u32]>,
}

impl<'a> JobStanding<'a> {
    /// Takes together what was seen and found.
    pub fn new(
        job: &'a WholeJob,
        seen: &'a Observation,
        findings: &'a [Finding],
        taken: Option<&'a TakenStacks>,
    ) -> JobStanding<'a> {
        JobStanding {
            job: job.head.id,
            library: job.head.library.as_deref(),
            program: &job.head.program,
            ranks_in_all: seen.ranks_in_all,
            hosts: &seen.hosts,
            left_out: job.left_out().iter().map(left_out).collect(),
            deadlock: findings.iter().any(|finding| finding.kind == FindingKind::Deadlock),
            findings,
            ranks: seen.ranks.iter().map(|view| rank(seen, view)).collect(),
            stacks: taken.map(StacksRecord::new),
        }
    }
}

fn left_out(machine: &LeftOut) -> LeftOutRecord<'_> {
    LeftOutRecord { host: &machine.host, why: &machine.why }
}

fn rank<'a>(seen: &'a Observation, view: &'a RankView) -> RankStanding<'a> {
    let (standing, call) = match &view.standing {
        Standing::Exited { finished: true } => ("finished", None),
        Standing::Exited { finished: false } => ("exited", None),
        Standing::Outside => ("outside", None),
        Standing::Waiting(call) => ("waiting", Some(call)),
        Standing::GoingOn(call) => ("going-on", call.as_ref()),
    };
    RankStanding {
        rank: view.rank,
        host: &seen.hosts[view.host],
        pid: view.pid,
        standing,
        process: view.activity.word(),
        process_words: view.activity.words(),
        call: call.map(call_standing),
    }
}

fn call_standing(call: &Call) -> CallStanding<'_> {
    let collective = call.collective.as_ref();
    CallStanding {
        name: &call.name,
        communicator: call.communicator.as_ref().map(|communicator| communicator.name.as_str()),
        size: call.communicator.as_ref().map(|communicator| communicator.members.len()),
        peer: match call.peer {
            Peer::World(rank) => Some(rank.to_string()),
            Peer::Any => Some("any".into()),
            Peer::None | Peer::Null | Peer::Unknown(_) => None,
        },
        tag: match call.tag {
            Tag::Number(tag) => Some(tag.to_string()),
            Tag::Any => Some("any".into()),
            Tag::None => None,
        },
        carried_by: if collective.is_some() { "evenkeel" } else { "library" },
        seconds: collective.map(|wait| wait.seconds),
        ordinal: collective.and_then(|wait| wait.ordinal),
        waits_for: collective.and_then(|wait| wait.missing.as_deref()),
    }
}
