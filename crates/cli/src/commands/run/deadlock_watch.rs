//! `evenkeel run --deadlock`: looks at the job from time to time until it is in a deadlock.

use crate::jobs::discovery::{self, Job};
use crate::jobs::findings;
use crate::jobs::machines::{Ways, WholeJob};
use crate::jobs::observation::{BETWEEN_LOOKS, FirstLook};
use crate::machine::processor_time;
use std::time::{Duration, Instant};

/// The time between two observations.
const INTERVAL: Duration = Duration::from_millis(500);
/// Processor time is used for looking one part in so many of the time, at most.
const SHARE: u32 = 100;

/// Each observation is of two looks, between which the process can do other things.
pub struct DeadlockWatch {
    ways: Ways,
    next_look: Instant,
    jobs: Vec<Watched>,
    /// A first look has been taken at all of them.
    has_begun: bool,
    /// Processor time of this observation.
    used: Duration,
}

/// A job that has been found.
struct Watched {
    job: WholeJob,
    first: Option<FirstLook>,
}

impl DeadlockWatch {
    /// The first look comes after some time. `ways` lead to other machines.
    pub fn begin(now: Instant, ways: Ways) -> DeadlockWatch {
        DeadlockWatch {
            ways,
            next_look: now + INTERVAL,
            jobs: Vec::new(),
            has_begun: false,
            used: Duration::ZERO,
        }
    }

    /// When to look next.
    pub fn next_look(&self) -> Instant {
        self.next_look
    }

    /// Looks at the jobs that this process has started. Returns a rank on this machine of one that is in a
    /// deadlock.
    pub fn look(&mut self) -> Option<u32> {
        let before = processor_time::of_this_process();
        let found = if self.has_begun { self.look_again() } else { self.look_first() };
        self.has_begun = !self.has_begun && !self.jobs.is_empty();
        let elsewhere = self.jobs.iter().map(|watched| watched.job.cpu_elsewhere()).max().unwrap_or_default();
        self.used += Duration::from_secs_f64((processor_time::of_this_process() - before).max(0.0));
        let pause = if self.has_begun {
            BETWEEN_LOOKS
        } else {
            INTERVAL.max(std::mem::take(&mut self.used).max(elsewhere) * SHARE)
        };
        self.next_look = Instant::now() + pause;
        found
    }

    fn look_first(&mut self) -> Option<u32> {
        let me = std::process::id();
        let mut known = std::mem::take(&mut self.jobs);
        for job in discovery::jobs().jobs.into_iter().filter(|job| job.has_been_started_by(me)) {
            let number = job.number();
            let at = known.iter().position(|it| number.is_some() && it.job.head.number == number);
            let watched = match at {
                Some(at) => {
                    let mut watched = known.swap_remove(at);
                    watched.job.renew(job);
                    Some(watched)
                }
                None => begin(job, &self.ways),
            };
            self.jobs.extend(watched);
        }
        for watched in &mut self.jobs {
            watched.first = watched.job.first_look();
        }
        None
    }

    fn look_again(&mut self) -> Option<u32> {
        self.jobs.iter_mut().find_map(|Watched { job, first }| {
            let seen = job.second_look(first.take());
            findings::is_deadlocked(&seen).then(|| job.rank_here()).flatten()
        })
    }
}

/// Begins with a job, and says which of its ranks cannot be looked at.
fn begin(job: Job, ways: &Ways) -> Option<Watched> {
    job.number()?; // its ranks are still in MPI_Init
    match WholeJob::of(job, ways) {
        Ok(job) => {
            for machine in job.left_out() {
                eprintln!(
                    "evenkeel: deadlocks of the job with ranks on {} are not found: {}.",
                    machine.host, machine.why
                );
            }
            Some(Watched { job, first: None })
        }
        Err(error) => {
            eprintln!("evenkeel: deadlocks between machines are not found: {error}");
            None
        }
    }
}
