//! `evenkeel run --deadlock`: looks at the job from time to time until it is in a deadlock.

use crate::jobs::discovery::{self, Job};
use crate::jobs::findings;
use crate::jobs::machines::{Found, LeftOut, Ways, WholeJob};
use crate::jobs::observation::{BETWEEN_LOOKS, FirstLook};
use crate::machine::processor_time;
use std::thread::JoinHandle;
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
    /// Machines are searched for: that may take some seconds, in which this process has other things to do.
    search: Option<JoinHandle<Found>>,
    /// When machines that could not be looked at are tried again, if ever, and how long it was waited for
    /// that.
    next_try: Option<Instant>,
    pause: Duration,
    searches: u32,
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
            let at = known.iter().position(|it| it.job.head.number == Some(number));
            let mut watched = match at.map(|at| known.swap_remove(at)) {
                Some(mut watched) => {
                    watched.job.renew(job);
                    watched
                }
                None => Watched::begin(job),
            };
            if let Some(ways) = &self.ways {
                watched.search(ways);
            }
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
    fn begin(job: Job) -> Watched {
        let job = WholeJob::here(job);
        let next_try = Some(Instant::now());
        Watched { job, first: None, search: None, next_try, pause: TRY_AGAIN, searches: 0 }
    }

    /// Searches for the job's other machines, from time to time for those that could not be looked at.
    fn search(&mut self, ways: &Ways) {
        if let Some(search) = self.search.take_if(|search| search.is_finished())
            && let Ok(found) = search.join()
        {
            self.job.take(found);
            self.say_left_out();
        }
        if self.search.is_some() || self.next_try.is_none_or(|at| Instant::now() < at) {
            return;
        }
        self.next_try = Some(Instant::now() + self.pause);
        if self.searches > 0 {
            self.pause = (self.pause * 2).min(TRY_SELDOM);
        }
        match self.job.search(ways) {
            Ok(None) => {}
            Ok(Some(search)) => {
                self.searches += 1;
                self.search = Some(std::thread::spawn(|| search.run()));
            }
            Err(error) => {
                eprintln!("evenkeel: ranks on other machines are not looked at: {error}");
                self.next_try = None;
            }
        }
    }

    /// Says which machines cannot be looked at, once: after the second search, because ranks may have been in
    /// MPI_Init at the first.
    fn say_left_out(&self) {
        let left_out = self.job.left_out().iter().filter(|machine| !machine.is_over);
        let left_out: Vec<&LeftOut> = left_out.collect();
        if self.searches != 2 || left_out.is_empty() {
            return;
        }
        let more =
            if left_out.len() > 1 { format!(" and {} more", left_out.len() - 1) } else { String::new() };
        eprintln!(
            "evenkeel: ranks on {}{more} cannot be looked at, so deadlocks that depend on them are not \
             found: {}.",
            left_out[0].host, left_out[0].why
        );
    }
}
