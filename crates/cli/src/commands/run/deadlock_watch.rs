//! `evenkeel run --deadlock`: looks at the job from time to time until it is in a deadlock.

use crate::jobs::discovery::{self, Job};
use crate::jobs::findings;
use crate::jobs::machines::{LeftOut, Ways, WholeJob};
use crate::jobs::observation::{BETWEEN_LOOKS, FirstLook};
use crate::machine::processor_time;
use std::time::{Duration, Instant};

/// The time between two observations.
const INTERVAL: Duration = Duration::from_millis(500);
/// Processor time is used for looking one part in so many of the time, at most.
const SHARE: u32 = 100;
/// After this time machines are tried again that could not be looked at, and then ever more seldom: their
/// ranks may have been in MPI_Init, or a network was down.
const TRY_AGAIN: Duration = Duration::from_secs(3);
const TRY_SELDOM: Duration = Duration::from_secs(60);

/// Each observation is of two looks, between which the process can do other things.
pub struct DeadlockWatch {
    /// How other machines are looked at; None: they are not.
    ways: Option<Ways>,
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
    /// When machines that could not be looked at are tried again, and how long it was waited for that.
    next_try: Instant,
    pause: Duration,
    /// What could not be looked at has been said.
    has_said: bool,
}

impl DeadlockWatch {
    /// The first look comes after some time. `ways` lead to other machines.
    pub fn begin(now: Instant, ways: Option<Ways>) -> DeadlockWatch {
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
            // Without a number, its ranks are still in MPI_Init.
            let Some(number) = job.number() else { continue };
            let mut watched = match known.iter().position(|it| it.job.head.number == Some(number)) {
                Some(at) => known.swap_remove(at).again(job, self.ways.as_ref()),
                None => Watched::begin(job, self.ways.as_ref()),
            };
            watched.first = watched.job.first_look();
            self.jobs.push(watched);
        }
        None
    }

    fn look_again(&mut self) -> Option<u32> {
        self.jobs.iter_mut().find_map(|Watched { job, first, .. }| {
            let seen = job.second_look(first.take());
            findings::is_deadlocked(&seen).then(|| job.rank_here()).flatten()
        })
    }
}

impl Watched {
    fn begin(job: Job, ways: Option<&Ways>) -> Watched {
        let (job, refusal) = open(job, ways);
        let has_said = refusal.is_some();
        if let Some(refusal) = refusal {
            eprintln!("evenkeel: deadlocks between machines are not found: {refusal}");
        }
        Watched { job, first: None, next_try: Instant::now() + TRY_AGAIN, pause: TRY_AGAIN, has_said }
    }

    /// The same job, found again. Machines that could not be looked at are tried again from time to time.
    fn again(mut self, job: Job, ways: Option<&Ways>) -> Watched {
        if self.job.left_out().is_empty() || Instant::now() < self.next_try {
            self.job.renew(job);
            return self;
        }
        let (job, _) = open(job, ways);
        if let [first, others @ ..] = job.left_out()
            && !std::mem::replace(&mut self.has_said, true)
        {
            say_left_out(first, others);
        }
        let pause = (self.pause * 2).min(TRY_SELDOM);
        Watched { job, first: None, next_try: Instant::now() + pause, pause, has_said: self.has_said }
    }
}

/// The job with its other machines; if that is refused, the part that is here, and why.
fn open(job: Job, ways: Option<&Ways>) -> (WholeJob, Option<String>) {
    let Some(ways) = ways else { return (WholeJob::here(job), None) };
    match WholeJob::of(job.clone(), ways) {
        Ok(whole) => (whole, None),
        Err(error) => (WholeJob::here(job), Some(error.to_string())),
    }
}

fn say_left_out(first: &LeftOut, others: &[LeftOut]) {
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    eprintln!(
        "evenkeel: deadlocks of the job with ranks on {}{more} are not found: {}.",
        first.host, first.why
    );
}
