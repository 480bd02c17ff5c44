//! A job, looked at again and again: what its ranks are in, and how they spend their time.

use super::discovery::{self, Job, JobRank};
use super::findings::{self, Finding};
use super::observation::{self, FirstLook, RankView, Standing};
use super::process::{self, Activity};
use super::rank;
use super::samples::Samples;
use super::wait_graph::{Need, needed};
use super::waiting;
use evenkeel_random::Random;
use evenkeel_segment::call_line::Glance;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The mean time between two samples.
const SAMPLING: Duration = Duration::from_millis(50);

/// The job has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobEnded;

/// How a rank has spent the time between two views, and what it is in at the second.
#[derive(Clone, Debug, PartialEq)]
pub struct RankLoad {
    /// What is seen of it.
    pub seen: RankView,
    /// The part of the time in calls of MPI that may wait, from 0 to 1.
    pub waiting: Option<f64>,
    /// The call in which most of that time was spent.
    pub mostly_in: Option<String>,
    /// Processor time over time.
    pub cpu: Option<f64>,
    /// It has been in the same call, or outside MPI without one, for at least so long.
    pub unchanged: Duration,
    /// Ranks of the world that it waits for, as far as its call tells.
    pub waits_for: Vec<u32>,
    /// It needs one of them, not all.
    pub one_is_enough: bool,
    /// How many ranks wait for it.
    pub holds_up: usize,
}

/// All ranks at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct JobView {
    /// In rank order.
    pub ranks: Vec<RankLoad>,
    /// How many ranks the job has, on all machines.
    pub ranks_in_all: usize,
    /// Which ranks hold up which others.
    pub findings: Vec<Finding>,
}

/// What has been counted of a rank since its MPI_Init, or since the watch began.
#[derive(Clone, Debug, PartialEq)]
pub struct RankCounts {
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Its line, at the latest sample.
    pub glance: Glance,
    /// Time in calls of MPI, since the watch began.
    pub inside: Duration,
    /// What the kernel says about it.
    pub activity: Activity,
    /// Processor time of its process; None if it has ended.
    pub cpu: Option<Duration>,
}

/// What is kept of a rank between two views.
#[derive(Default)]
struct Kept {
    samples: Samples,
    glance: Glance,
    /// Processor time, and when it was read.
    cpu: Option<(Duration, Instant)>,
}

/// A job that is watched. Samples should be taken all the time: see [`JobWatch::until_sample`].
pub struct JobWatch {
    job: Job,
    began: Instant,
    ranks: Vec<Kept>,
    names: HashMap<(u32, u64), Option<String>>,
    next_sample: Instant,
    random: Random,
}

impl JobWatch {
    /// Begins. `seed` chooses the times of the samples, so that they are not in step with the job.
    pub fn begin(job: Job, now: Instant, seed: u64) -> JobWatch {
        let ranks = job.ranks.iter().map(|_| Kept::default()).collect();
        let random = Random::new(seed);
        let mut watch = JobWatch { job, began: now, ranks, names: HashMap::new(), next_sample: now, random };
        watch.read_processor_times(now);
        watch
    }

    /// The job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Until the next sample is due.
    pub fn until_sample(&self, now: Instant) -> Duration {
        self.next_sample.saturating_duration_since(now)
    }

    /// Takes a sample if one is due.
    pub fn sample(&mut self, now: Instant) -> Result<(), JobEnded> {
        if self.next_sample > now {
            return Ok(());
        }
        self.next_sample = now + SAMPLING.mul_f64(0.5 + self.random.unit());
        let glances = match self.job.segment.glances(self.ranks.len()) {
            Some(glances) => glances,
            None => {
                self.find_again()?;
                self.job.segment.glances(self.ranks.len()).ok_or(JobEnded)?
            }
        };
        let at = now - self.began;
        for (kept, glance) in self.ranks.iter_mut().zip(glances) {
            kept.samples.add(at, &glance);
            kept.glance = glance;
        }
        Ok(())
    }

    /// Looks for the job among all: because the rank by which its segment was read has ended, or because
    /// ranks have joined since.
    fn find_again(&mut self) -> Result<(), JobEnded> {
        let ranks = |job: &Job| job.ranks.iter().map(|rank| rank.identity.pid).collect::<Vec<_>>();
        let own = ranks(&self.job);
        let is_it = |job: &Job| ranks(job).starts_with(&own);
        let found = discovery::jobs().jobs.into_iter().find(is_it).ok_or(JobEnded)?;
        self.job = Job { id: self.job.id, ..found };
        self.ranks.resize_with(self.job.ranks.len(), Kept::default);
        Ok(())
    }

    /// The first of the two looks of a view.
    pub fn first_look(&mut self) -> FirstLook {
        if self.job.segment.processes().len() > self.job.ranks.len() {
            let _ = self.find_again(); // whether the job has ended is said by the second look
        }
        FirstLook::take(&self.job)
    }

    /// The second look: what the ranks are in, and how they have spent the time since the latest view.
    pub fn second_look(&mut self, first: FirstLook, now: Instant) -> Result<JobView, JobEnded> {
        self.refresh_stages();
        let seen = observation::second_look(&self.job, first);
        if seen.ranks.iter().all(|view| matches!(view.standing, Standing::Exited { .. })) {
            return Err(JobEnded);
        }
        let findings = findings::findings(&seen);
        let loads = self.read_processor_times(now);
        let told = waiting::needs(&seen).told;
        let mut ranks: Vec<RankLoad> = Vec::with_capacity(seen.ranks.len());
        let by_rank: HashMap<u32, usize> =
            self.job.ranks.iter().map(|rank| (rank.rank, rank.place)).collect();
        for (at, view) in seen.ranks.iter().enumerate() {
            let place = by_rank[&view.rank];
            let stretch = self.ranks[place].samples.take();
            let name = |address| self.names.entry((view.pid?, address)).or_insert_with_key(read_name).clone();
            ranks.push(RankLoad {
                seen: view.clone(),
                waiting: stretch.inside,
                mostly_in: stretch.mostly_in.and_then(name),
                cpu: loads[place],
                unchanged: self.ranks[place].samples.unchanged(),
                waits_for: needed(&told[at]).iter().map(|place| seen.ranks[*place].rank).collect(),
                one_is_enough: matches!(&told[at], Need::Any(_)),
                holds_up: holds_up(&told, at),
            });
        }
        Ok(JobView { ranks, ranks_in_all: seen.ranks_in_all, findings })
    }

    /// What has been counted.
    pub fn counts(&self) -> Vec<RankCounts> {
        let one = |(rank, kept): (&JobRank, &Kept)| RankCounts {
            rank: rank.rank,
            glance: kept.glance,
            inside: kept.samples.inside_in_all(),
            activity: rank.pid.map_or(Activity::Exited, process::activity),
            cpu: rank.pid.and_then(process::processor_time),
        };
        let mut counts: Vec<RankCounts> = self.job.ranks.iter().zip(&self.ranks).map(one).collect();
        counts.sort_unstable_by_key(|rank| rank.rank);
        counts
    }

    /// Ranks finalize and end while they are watched.
    fn refresh_stages(&mut self) {
        for (rank, (stage, _)) in self.job.ranks.iter_mut().zip(self.job.segment.processes()) {
            rank.stage = stage;
        }
    }

    /// Processor time over time since the latest reading, by place.
    fn read_processor_times(&mut self, now: Instant) -> Vec<Option<f64>> {
        let load = |(rank, kept): (&JobRank, &mut Kept)| {
            let time = rank.pid.and_then(process::processor_time);
            let last = std::mem::replace(&mut kept.cpu, time.map(|time| (time, now)));
            let ((then, at), time) = (last?, time?);
            let stretch = now.saturating_duration_since(at).as_secs_f64();
            (stretch > 0.0).then(|| time.saturating_sub(then).as_secs_f64() / stretch)
        };
        self.job.ranks.iter().zip(&mut self.ranks).map(load).collect()
    }
}

fn read_name((pid, address): &(u32, u64)) -> Option<String> {
    rank::function_name(*pid, *address)
}

/// How many ranks need the one at a place.
fn holds_up(needs: &[Need], place: usize) -> usize {
    let needs_it = |need: &&Need| match need {
        Need::All(ranks) => ranks.contains(&place),
        Need::Any(ranks) => ranks == &[place],
        Need::Nothing | Need::Gone => false,
    };
    needs.iter().filter(needs_it).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_held_up_by_all_that_it_needs_but_not_by_one_of_several() {
        let needs =
            [Need::All(vec![1, 2]), Need::Nothing, Need::Any(vec![1]), Need::Any(vec![1, 2]), Need::Gone];
        let counts: Vec<usize> = (0..needs.len()).map(|place| holds_up(&needs, place)).collect();
        assert_eq!(counts, [0, 2, 1, 0, 0]);
    }
}
