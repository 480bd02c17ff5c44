//! `evenkeel run --deadlock`: looks at the job from time to time until it is in a deadlock.

use crate::jobs::discovery::{self, Job};
use crate::jobs::findings;
use crate::jobs::observation::{self, BETWEEN_LOOKS, FirstLook};
use crate::machine::processor_time;
use std::time::{Duration, Instant};

/// The time between two observations.
const INTERVAL: Duration = Duration::from_millis(500);
/// Processor time is used for looking one part in so many of the time, at most.
const SHARE: u32 = 100;

/// Each observation is of two looks, between which the process can do other things.
pub struct DeadlockWatch {
    next_look: Instant,
    first_looks: Vec<(Job, FirstLook)>,
    /// Processor time of this observation.
    used: Duration,
}

impl DeadlockWatch {
    /// The first look comes after some time.
    pub fn begin(now: Instant) -> DeadlockWatch {
        DeadlockWatch { next_look: now + INTERVAL, first_looks: Vec::new(), used: Duration::ZERO }
    }

    /// When to look next.
    pub fn next_look(&self) -> Instant {
        self.next_look
    }

    /// Looks at the jobs that this process has started. Returns one that is in a deadlock.
    pub fn look(&mut self) -> Option<Job> {
        let before = processor_time::of_this_process();
        let first_looks = std::mem::take(&mut self.first_looks);
        let found = if first_looks.is_empty() {
            self.look_first();
            None
        } else {
            first_looks.into_iter().find(|(job, first)| is_deadlocked(job, first)).map(|(job, _)| job)
        };
        self.used += Duration::from_secs_f64((processor_time::of_this_process() - before).max(0.0));
        let pause = if self.first_looks.is_empty() {
            INTERVAL.max(std::mem::take(&mut self.used) * SHARE)
        } else {
            BETWEEN_LOOKS
        };
        self.next_look = Instant::now() + pause;
        found
    }

    fn look_first(&mut self) {
        let me = std::process::id();
        let jobs = discovery::jobs().jobs.into_iter().filter(|job| job.has_been_started_by(me));
        self.first_looks =
            jobs.map(|job| (FirstLook::take(&job), job)).map(|(look, job)| (job, look)).collect();
    }
}

fn is_deadlocked(job: &Job, first: &FirstLook) -> bool {
    findings::is_deadlocked(&observation::second_look(job, first.clone()))
}
