//! All that changes in a simulation. May use: events, on_time.

use super::events::{Event, EventQueue};
use super::on_time::OnTime;
use crate::cluster::Cluster;
use crate::job::SyntheticJob;
use crate::policy::Policy;
use evenkeel_gang::{Class, Classifier, Matrix, Queue, Sample, Strobes, Timetable};

/// How far a job is.
#[derive(Debug)]
pub enum Progress {
    /// Not submitted, or in the queue.
    Waits,
    /// It runs as a whole.
    Gang(GangRun),
    /// Its ranks run one by one: the number of the first, and how many have not ended.
    Loose { first: usize, left: usize },
    /// Its last rank has ended.
    Ended,
}

/// A job that runs as a whole.
#[derive(Debug)]
pub struct GangRun {
    /// The time that it has been on until `since_ns`.
    pub done_ns: u64,
    /// The time up to which `done_ns` counts.
    pub since_ns: u64,
    /// When it is on under the timetable that holds.
    pub on_time: OnTime,
    /// After how much time on the classes of its ranks change, if they do.
    pub loosens_after_ns: Option<u64>,
    /// The version of its events.
    pub version: u32,
}

/// A job.
#[derive(Debug)]
pub struct JobRun {
    /// How far it is.
    pub progress: Progress,
    /// When it started.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// The classes by which its ranks are scheduled.
    pub classes: Vec<Class>,
    /// What has been measured of its ranks, under flexible coscheduling.
    pub classifiers: Vec<Classifier>,
    /// Whether its slot is on, and since when.
    pub is_on: bool,
    /// The time since when.
    pub on_since_ns: u64,
}

/// What a rank of a loose job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankDoes {
    /// It computes, or would if it had a core.
    Computes,
    /// It waits for the message of its left neighbour.
    Waits,
    /// It has ended.
    Ended,
}

/// A rank of a loose job.
#[derive(Debug)]
pub struct RankRun {
    /// The job.
    pub job: u32,
    /// The rank's number in the job.
    pub index: u32,
    /// Its core.
    pub core: u32,
    /// What it does.
    pub does: RankDoes,
    /// The iterations that it has done.
    pub done: u32,
    /// What it has still to compute in this one.
    pub left_ns: u64,
    /// When it finished the last iteration.
    pub done_at_ns: u64,
    /// Until when it spins.
    pub spins_until_ns: u64,
    /// The processor time that it has had, moved forward when it comes back from a wait.
    pub used_ns: u64,
    /// Before which other ranks it may run; 0: not at all.
    pub level: u8,
    /// What is measured of it.
    pub sample: Sample,
}

/// A core that has ranks of loose jobs.
#[derive(Debug, Default)]
pub struct CoreRun {
    /// These ranks.
    pub ranks: Vec<u32>,
    /// The rank that has the core.
    pub current: Option<u32>,
    /// The rank that had it last.
    pub last: Option<u32>,
    /// From when on the current rank's work counts.
    pub counts_from_ns: u64,
    /// The largest processor time of a rank when it left the core.
    pub most_used_ns: u64,
    /// The version of its events.
    pub version: u32,
}

/// A simulation under way.
pub struct ClusterRun<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The policy.
    pub policy: Policy,
    /// The jobs as given.
    pub given: &'a [SyntheticJob],
    /// The events to come.
    pub events: EventQueue,
    /// The time.
    pub now_ns: u64,
    /// The matrix between the boundaries.
    pub matrix: Matrix,
    /// The queue.
    pub queue: Queue,
    /// When quanta begin.
    pub strobes: Strobes,
    /// The timetable that holds.
    pub timetable: Timetable,
    /// The slot that is on.
    pub slot: Option<usize>,
    /// The jobs.
    pub jobs: Vec<JobRun>,
    /// The ranks of all jobs that are or were loose.
    pub ranks: Vec<RankRun>,
    /// The cores.
    pub cores: Vec<CoreRun>,
    /// The loose jobs that have not ended.
    pub loose: Vec<u32>,
    /// The cores of loose jobs.
    pub loose_cores: Vec<u32>,
    /// Jobs that have ended and are still in the matrix.
    pub leaving: Vec<u32>,
    /// Gangs that become loose at the next boundary.
    pub loosening: Vec<u32>,
    /// Whether the matrix changes at the next boundary.
    pub is_changing: bool,
    /// When the next boundary is, if one is needed.
    pub boundary_ns: Option<u64>,
    /// The last boundary.
    pub last_boundary_ns: Option<u64>,
    /// Jobs that have ended.
    pub ended: usize,
}

impl ClusterRun<'_> {
    /// Makes sure that something happens at the next boundary.
    pub fn request_boundary(&mut self) {
        let quantum_ns = self.strobes.quantum_ns();
        let mut next_ns = self.now_ns.div_ceil(quantum_ns) * quantum_ns;
        if self.last_boundary_ns == Some(next_ns) {
            next_ns += quantum_ns;
        }
        if self.boundary_ns.is_none_or(|boundary_ns| boundary_ns > next_ns) {
            self.boundary_ns = Some(next_ns);
            self.events.push(next_ns, Event::Boundary);
        }
    }

    /// The last rank of a job has ended.
    pub fn end_job(&mut self, job: u32) {
        let run = &mut self.jobs[job as usize];
        run.progress = Progress::Ended;
        run.end_ns = self.now_ns;
        self.leaving.push(job);
        self.loose.retain(|loose| *loose != job);
        self.ended += 1;
        self.is_changing = true;
        self.request_boundary();
    }
}
