//! All ranks of a job, looked at twice.
//!
//! A rank whose line has the same version both times was in the same call all the time in between. So at some
//! moment between the two looks, all such ranks were in their calls together: what follows from that is
//! proved, however long the looks take.

use super::discovery::{Job, JobRank};
use super::inspection::HostCollectives;
use super::process::{self, Activity};
use super::rank::{self, Call};
use super::threads::Threads;
use crate::machine::system;
use evenkeel_segment::call_line::Sight;
use evenkeel_segment::identity::Stage;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Between the two looks: most calls of a job that goes on are over sooner.
pub const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Where a rank is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Standing {
    /// Its process has ended, after MPI_Finalize or not.
    Exited {
        /// It had done its part in everything.
        finished: bool,
    },
    /// In no call of MPI that is known.
    Outside,
    /// In a call all the time between the looks.
    Waiting(Call),
    /// In a call, but not all the time in the same one.
    GoingOn(Option<Call>),
}

/// The messages of a rank that the MPI library carries, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Sends that it has begun.
    pub sends: u64,
    /// Messages that it has received, and nonblocking receives that it has started.
    pub receives: u64,
    /// Nonblocking operations that are not complete.
    pub pending: u64,
    /// These numbers do not hold all.
    pub is_uncountable: bool,
    /// Something else than the ranks that it needs may end a wait.
    pub is_unprovable: bool,
    /// It is in MPI_Finalize, and nothing that this calls back can send messages any more.
    pub sends_no_more: bool,
    /// It waits in MPI_Finalize for all ranks to come there.
    pub waits_for_all: bool,
}

/// What is seen of a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankView {
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// The machine that it is on, by its place in [`Observation::hosts`].
    pub host: usize,
    /// Its process there; None if it has ended.
    pub pid: Option<u32>,
    /// Where it is.
    pub standing: Standing,
    /// What the kernel says about it.
    pub activity: Activity,
    /// Its messages; None if their numbers have changed between the looks, or cannot be read.
    pub traffic: Option<Traffic>,
    /// Collectives that it has left to the MPI library; none if it may have left more between the looks.
    pub host_collectives: Vec<HostCollectives>,
}

impl RankView {
    /// A rank of a test's, of which nothing is known but where it is.
    #[cfg(test)]
    pub fn example(rank: u32, standing: Standing) -> RankView {
        RankView {
            rank,
            host: 0,
            pid: Some(100 + rank),
            standing,
            activity: Activity::Running,
            traffic: None,
            host_collectives: Vec::new(),
        }
    }

    /// The call in which the rank was all the time.
    pub fn waits_in(&self) -> Option<&Call> {
        match &self.standing {
            Standing::Waiting(call) => Some(call),
            _ => None,
        }
    }
}

/// What is seen of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The machines that were looked at.
    pub hosts: Vec<String>,
    /// The ranks there, in rank order.
    pub ranks: Vec<RankView>,
    /// How many ranks the job has, on all machines.
    pub ranks_in_all: usize,
}

impl Observation {
    /// Whether all ranks of the job are among those seen.
    pub fn is_whole(&self) -> bool {
        self.ranks.len() == self.ranks_in_all
    }

    /// The view of a rank of the world, by its place in `ranks`.
    pub fn place_of(&self, rank: u32) -> Option<usize> {
        self.ranks.binary_search_by_key(&rank, |view| view.rank).ok()
    }
}

/// Looks at all ranks of a job. Takes a tenth of a second and some microseconds a rank.
pub fn observe(job: &Job) -> Observation {
    let first = FirstLook::take(job);
    std::thread::sleep(BETWEEN_LOOKS);
    second_look(job, first)
}

/// What is seen at the first of the two looks, of each rank.
#[derive(Clone, Debug)]
pub struct FirstLook(Vec<Look>);

/// What is seen of a rank at one look.
#[derive(Clone, Debug)]
struct Look {
    sight: Option<Sight>,
    other_threads: Threads,
}

impl Look {
    fn take(job: &Job, rank: &JobRank) -> Look {
        let sight = job.segment.call(rank.place);
        Look {
            sight,
            other_threads: sight.map_or_else(Threads::default, |it| rank::other_threads(rank, &it)),
        }
    }
}

impl FirstLook {
    /// Looks. The second look should come [`BETWEEN_LOOKS`] later.
    pub fn take(job: &Job) -> FirstLook {
        FirstLook(job.ranks.iter().map(|rank| Look::take(job, rank)).collect())
    }
}

/// Looks again, at the same job.
pub fn second_look(job: &Job, FirstLook(first): FirstLook) -> Observation {
    let whole = job;
    // Between the looks, so that it belongs to the calls that are the same at both.
    let job = &Job { segment: job.segment.remembering(), ..job.clone() };
    let described: Vec<Described> =
        job.ranks.iter().zip(&first).map(|(rank, look)| describe(job, rank, look.sight.as_ref())).collect();
    let last: Vec<Look> = job.ranks.iter().map(|rank| Look::take(whole, rank)).collect();
    let looks = first.into_iter().zip(last).zip(described);
    let mut ranks: Vec<RankView> = job
        .ranks
        .iter()
        .zip(looks)
        .map(|(rank, ((first, last), described))| view(job, rank, (first, last), described))
        .collect();
    ranks.sort_unstable_by_key(|view| view.rank);
    Observation { hosts: vec![system::host_name()], ranks, ranks_in_all: job.ranks_in_all }
}

/// What is read between the looks.
struct Described {
    call: Option<Call>,
    activity: Activity,
    host_collectives: Vec<HostCollectives>,
}

fn describe(job: &Job, rank: &JobRank, sight: Option<&Sight>) -> Described {
    Described {
        call: sight.and_then(|sight| sight.call).and_then(|call| rank::describe(job, rank, &call)),
        activity: rank.pid.map_or(Activity::Exited, process::activity),
        host_collectives: rank.host_collectives(),
    }
}

fn view(job: &Job, rank: &JobRank, (before, after): (Look, Look), described: Described) -> RankView {
    let Described { call, activity, host_collectives } = described;
    let (first, last) = (before.sight, after.sight);
    let is_same = matches!((first, last), (Some(first), Some(last)) if first.version == last.version);
    let standing = match (activity == Activity::Exited, last.and_then(|sight| sight.call)) {
        (true, _) => Standing::Exited { finished: rank.stage == Stage::Left },
        (false, Some(now)) => match call {
            Some(call) if is_same => Standing::Waiting(call),
            _ => Standing::GoingOn(rank::describe(job, rank, &now)),
        },
        (false, None) if is_same => Standing::Outside,
        (false, None) => Standing::GoingOn(None),
    };
    let is_waiting = matches!(standing, Standing::Waiting(_));
    let may_others_run = |sight: &Sight| {
        sight.is_threaded && is_waiting && !before.other_threads.sleep_for_good(&after.other_threads)
    };
    let traffic = |sight: Sight| Traffic {
        sends: sight.sends,
        receives: sight.receives,
        pending: sight.pending,
        is_uncountable: sight.is_uncountable,
        is_unprovable: sight.is_unprovable || may_others_run(&sight),
        sends_no_more: sight.sends_no_more,
        waits_for_all: sight.waits_for_all,
    };
    let traffic = first.map(traffic).filter(|first| last.map(traffic) == Some(*first));
    let host_collectives = if is_same { host_collectives } else { Vec::new() };
    RankView { rank: rank.rank, host: 0, pid: rank.pid, standing, activity, traffic, host_collectives }
}
