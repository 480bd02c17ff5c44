//! Finds the jobs of this user that run under evenkeel on this machine: there is no daemon and no file. The
//! ranks of a job map its segment, an anonymous memory file, which tells who they are.

use super::inspection::{HostCollectives, Inspection};
use super::process;
use crate::errors::JobError;
use crate::machine::system;
use evenkeel_segment::foreign::{ForeignError, ForeignSegment, read_bytes};
use evenkeel_segment::identity::{Identity, Stage};
use std::collections::BTreeMap;

/// As the maps of a process name the segment.
const SEGMENT: &str = "/memfd:evenkeel (deleted)";

/// Programs that start ranks, by the beginning of their names.
const LAUNCHERS: &[&str] =
    &["mpirun", "mpiexec", "orterun", "prterun", "prte", "srun", "slurmstepd", "hydra_"];

/// A rank of a job, or what is left of it.
#[derive(Clone, Debug)]
pub struct JobRank {
    /// The number of its place in the segment.
    pub place: usize,
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Its process, by the number that it has here; None if it has ended.
    pub pid: Option<u32>,
    /// What it has done.
    pub stage: Stage,
    /// Who it says it is.
    pub identity: Identity,
}

impl JobRank {
    /// What its front end tells; None before it has done so, and if the process has ended.
    pub fn inspection(&self) -> Option<Inspection> {
        Inspection::read(self.pid?, self.identity.inspection)
    }

    /// The collectives that it has left to the MPI library.
    pub fn host_collectives(&self) -> Vec<HostCollectives> {
        let told = self.pid.zip(self.inspection());
        told.map_or(Vec::new(), |(pid, inspection)| inspection.host_collectives(pid))
    }
}

/// A job that runs under evenkeel on this machine.
#[derive(Clone, Debug)]
pub struct Job {
    /// The launcher, or the lowest rank if that is not known.
    pub id: u32,
    /// The segment, as one of the ranks maps it.
    pub segment: ForeignSegment,
    /// The ranks on this machine, by their places.
    pub ranks: Vec<JobRank>,
    /// How many ranks the job has, on all machines.
    pub ranks_in_all: usize,
}

impl Job {
    /// The lowest rank whose process is there.
    pub fn lowest(&self) -> Option<u32> {
        self.ranks.iter().find_map(|rank| rank.pid)
    }

    /// Whether a process is above the job's ranks, or has started them as `evenkeel run` with this number.
    pub fn has_been_started_by(&self, pid: u32) -> bool {
        let has_started = |rank: u32| {
            let mut above = std::iter::successors(process::parent(rank), |pid| process::parent(*pid));
            above.any(|above| above == pid) || run_of(rank).is_some_and(|run| run == run_value(pid))
        };
        self.lowest().is_some_and(has_started)
    }

    /// The `evenkeel run` that has started it, as [`RUN`] names it; None if it watches for nothing.
    pub fn run(&self) -> Option<String> {
        self.lowest().and_then(run_of)
    }

    /// Tells it from other jobs, on all its machines; None if no rank tells.
    pub fn number(&self) -> Option<u64> {
        self.ranks.iter().find_map(|rank| Some(rank.inspection()?.job))
    }

    /// The hosts of its nodes, by their own names; none if it has one node.
    pub fn hosts(&self) -> Vec<String> {
        let hosts = |rank: &JobRank| Some(rank.inspection()?.hosts(rank.pid?));
        self.ranks.iter().find_map(hosts).unwrap_or_default()
    }

    /// The program that the ranks run.
    pub fn program(&self) -> String {
        self.lowest().map(process::command_line).unwrap_or_default().join(" ")
    }

    /// The MPI library, by its own name.
    pub fn library(&self) -> Option<String> {
        /// The shim shortens the name to fewer bytes.
        const LONGEST: u64 = 256;
        let rank = self.ranks.iter().find(|rank| rank.pid.is_some())?;
        let (address, length) = rank.identity.library;
        let mut bytes = vec![0; length.min(LONGEST) as usize];
        read_bytes(rank.pid?, address, &mut bytes).ok()?;
        String::from_utf8(bytes).ok()
    }
}

/// What is found.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The jobs, by their numbers.
    pub jobs: Vec<Job>,
    /// Jobs that cannot be looked at, by a process of each.
    pub refused: Vec<JobError>,
}

/// A process that maps a segment.
struct Mapping {
    pid: u32,
    address: u64,
}

/// Looks through the processes of this user.
pub fn jobs() -> Discovery {
    /// A rank that joins while it is looked at seems to have ended. Later looks find it, if it has not.
    const MOST_LOOKS: usize = 3;
    let seems_ended = |rank: &JobRank| rank.pid.is_none() && rank.stage == Stage::Joined;
    let mut found = look();
    for _ in 1..MOST_LOOKS {
        if !found.jobs.iter().any(|job| job.ranks.iter().any(seems_ended)) {
            break;
        }
        found = look();
    }
    found
}

fn look() -> Discovery {
    let mut segments: BTreeMap<String, Vec<Mapping>> = BTreeMap::new();
    for pid in process::all() {
        if let Some((file, address)) = mapped_segment(pid).filter(|_| process::is_of_this_host(pid)) {
            segments.entry(file).or_default().push(Mapping { pid, address });
        }
    }
    let mut discovery = Discovery::default();
    for mut mappings in segments.into_values() {
        mappings.sort_unstable_by_key(|mapping| mapping.pid);
        match job(&mappings) {
            Ok(Some(job)) => discovery.jobs.push(job),
            Ok(None) => {} // it has just ended
            Err(error) => discovery.refused.push(error.into()),
        }
    }
    discovery.jobs.sort_unstable_by_key(|job| job.id);
    discovery
}

/// Device and inode of the segment that a process maps, and where.
fn mapped_segment(pid: u32) -> Option<(String, u64)> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let line = maps.lines().find(|line| line.ends_with(SEGMENT))?;
    let mut fields = line.split_whitespace();
    let (range, device, inode) = (fields.next()?, fields.nth(2)?, fields.next()?);
    let address = u64::from_str_radix(range.split('-').next()?, 16).ok()?;
    Some((format!("{device} {inode}"), address))
}

/// The job whose processes map one segment. None: its ranks have ended, or not joined yet.
fn job(mappings: &[Mapping]) -> Result<Option<Job>, ForeignError> {
    let mut refusal = None;
    let opened = mappings.iter().find_map(|mapping| {
        ForeignSegment::open(mapping.pid, mapping.address).map_err(|error| refusal = Some(error)).ok()
    });
    let Some(segment) = opened else { return refusal.map_or(Ok(None), Err) };
    // A child of a rank's maps the segment, too, but is no rank.
    let pid_of = |identity: &Identity| {
        let own = |mapping: &&Mapping| process::own_number(mapping.pid) == Some(identity.pid);
        mappings.iter().find(own).map(|mapping| mapping.pid)
    };
    let ranks: Vec<JobRank> = segment
        .processes()
        .into_iter()
        .enumerate()
        .map(|(place, (stage, identity))| JobRank {
            place,
            rank: identity.rank,
            pid: pid_of(&identity),
            stage,
            identity,
        })
        .collect();
    let Some(lowest) = ranks.iter().find_map(|rank| rank.pid) else { return Ok(None) };
    let ranks_in_all = segment.ranks().unwrap_or(0) as usize;
    Ok(Some(Job { id: launcher_of(lowest).unwrap_or(lowest), segment, ranks, ranks_in_all }))
}

/// The variable by which processes of a run that is watched are known, on all machines: [`run_value`] of its
/// `evenkeel run`. Launchers such as srun have daemons start the ranks, which are no descendants of that
/// process then.
pub const RUN: &str = "EVENKEEL_RUN_PROCESS";

/// The value of [`RUN`] for the `evenkeel run` with this number on this machine.
pub fn run_value(pid: u32) -> String {
    format!("{pid}@{}", system::host_name())
}

/// The value of [`RUN`] of a process.
pub fn run_of(pid: u32) -> Option<String> {
    process::environment(pid).into_iter().find(|(name, _)| name == RUN).map(|(_, value)| value)
}

/// The outermost launcher above a process.
fn launcher_of(pid: u32) -> Option<u32> {
    let above = std::iter::successors(process::parent(pid), |pid| process::parent(*pid));
    let is_launcher = |pid: &u32| {
        let words = process::command_line(*pid);
        let name = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        LAUNCHERS.iter().any(|launcher| name.starts_with(launcher))
    };
    above.take_while(|pid| *pid > 1).filter(is_launcher).last()
}

/// The job that a person means: by the number of its launcher, of one of its ranks, or of a process that has
/// started them; without a number, the only one.
pub fn job_named(wanted: Option<u32>) -> Result<Job, JobError> {
    let Discovery { mut jobs, refused } = jobs();
    let Some(wanted) = wanted else {
        return match (jobs.len(), refused.into_iter().next()) {
            (1, _) => Ok(jobs.remove(0)),
            (0, Some(refusal)) => Err(refusal),
            (0, None) => Err(JobError::None),
            _ => Err(several(&jobs)),
        };
    };
    let is_meant = |job: &Job| job.id == wanted || job.ranks.iter().any(|rank| rank.pid == Some(wanted));
    if let Some(at) = jobs.iter().position(is_meant) {
        return Ok(jobs.remove(at));
    }
    // All processes are below the first one.
    let mut below: Vec<Job> =
        jobs.into_iter().filter(|job| wanted > 1 && job.has_been_started_by(wanted)).collect();
    match below.len() {
        0 => {}
        1 => return Ok(below.remove(0)),
        _ => return Err(several(&below)),
    }
    let refused = refused
        .into_iter()
        .find(|refusal| refusal.pid().is_some_and(|pid| pid == wanted || launcher_of(pid) == Some(wanted)));
    Err(refused.unwrap_or_else(|| not_a_job(wanted)))
}

fn several(jobs: &[Job]) -> JobError {
    JobError::Several { jobs: jobs.iter().map(|job| (job.id, job.program())).collect() }
}

/// Why a process that is named is no job.
fn not_a_job(pid: u32) -> JobError {
    let me = rustix::process::geteuid().as_raw();
    match process::user(pid) {
        None => JobError::NoProcess { pid },
        Some(user) if user != me && me != 0 => JobError::OtherUser { pid, user },
        Some(_) => JobError::NoJob { pid },
    }
}
