//! Watches all jobs of this user, or one.

use super::exposition::{JobMetrics, RankMetrics};
use crate::errors::JobError;
use crate::jobs::discovery::{self, Job};
use crate::jobs::findings::FindingKind;
use crate::jobs::observation::BETWEEN_LOOKS;
use crate::jobs::watch::{JobEnded, JobWatch, RankCounts};
use std::time::{Duration, Instant};

/// From one search for new jobs to the next.
const SEARCH_INTERVAL: Duration = Duration::from_secs(5);

/// The longest pause, so that callers do their own things, too.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The jobs that are watched.
pub struct Exporter {
    watches: Vec<JobWatch>,
    /// Only one job is wanted, and it is watched already.
    is_of_one_job: bool,
    next_search: Instant,
}

impl Exporter {
    /// Watches the job that is named; without a name, all that there are or will be.
    pub fn begin(wanted: Option<u32>, now: Instant) -> Result<Exporter, JobError> {
        let mut exporter =
            Exporter { watches: Vec::new(), is_of_one_job: wanted.is_some(), next_search: now };
        if wanted.is_some() {
            exporter.watch(discovery::job_named(wanted)?, now);
        }
        Ok(exporter)
    }

    fn watch(&mut self, job: Job, now: Instant) {
        let seed = u64::from(job.id) << 32 | u64::from(std::process::id());
        self.watches.push(JobWatch::begin(job, now, seed));
    }

    /// Whether the only job that was wanted has ended.
    pub fn is_over(&self) -> bool {
        self.is_of_one_job && self.watches.is_empty()
    }

    /// Does what is due; returns how long it may be left alone.
    pub fn go_on(&mut self, now: Instant) -> Duration {
        if !self.is_of_one_job && now >= self.next_search {
            self.next_search = now + SEARCH_INTERVAL;
            for job in discovery::jobs().jobs {
                if self.watches.iter().all(|watch| watch.job().id != job.id) {
                    self.watch(job, now);
                }
            }
        }
        self.watches.retain_mut(|watch| watch.sample(now).is_ok());
        let pauses = self.watches.iter().map(|watch| watch.until_sample(now));
        pauses.min().unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE)
    }

    /// What is known of all jobs now. Takes a tenth of a second, if there are any.
    pub fn read(&mut self) -> Vec<JobMetrics> {
        let looks: Vec<_> = self.watches.iter_mut().map(JobWatch::first_look).collect();
        if !looks.is_empty() {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        let now = Instant::now();
        let mut read = Vec::new();
        let mut looks = looks.into_iter();
        self.watches.retain_mut(|watch| {
            let first = looks.next().expect("there is a look for each job");
            let metrics = watch.second_look(first, now).map(|view| {
                let ranks = watch.counts().into_iter().zip(&view.ranks);
                JobMetrics {
                    id: watch.job().id,
                    library: watch.job().library().unwrap_or_default(),
                    program: watch.job().program(),
                    ranks_in_all: view.ranks_in_all,
                    is_deadlocked: view.findings.iter().any(|it| it.kind == FindingKind::Deadlock),
                    ranks: ranks.map(|(counts, load)| rank(counts, load.holds_up)).collect(),
                }
            });
            metrics.map(|metrics| read.push(metrics)) != Err(JobEnded)
        });
        read
    }
}

fn rank(counts: RankCounts, holds_up: usize) -> RankMetrics {
    RankMetrics {
        rank: counts.rank,
        mpi_seconds: counts.inside.as_secs_f64(),
        cpu_seconds: counts.cpu.map(|time| time.as_secs_f64()),
        calls: counts.glance.calls(),
        messages_sent: counts.glance.sends,
        messages_received: counts.glance.receives,
        pending_requests: counts.glance.pending,
        is_in_mpi: counts.glance.name.is_some(),
        state: counts.activity.word(),
        holds_up,
    }
}
