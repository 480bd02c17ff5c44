//! `evenkeel run --deadlock`: looks at the job from time to time until it is in a deadlock.

use super::searches::{Searches, TRY_AGAIN};
use crate::errors::JobError;
use crate::jobs::discovery;
use crate::jobs::findings;
use crate::jobs::machines::{JobAddress, LeftOut, Ways, WholeJob};
use crate::jobs::observation::{BETWEEN_LOOKS, FirstLook};
use crate::machine::processor_time;
use std::time::{Duration, Instant};

/// The time between two observations.
const INTERVAL: Duration = Duration::from_millis(500);
/// Processor time is used for looking one part in so many of the time, at most.
const SHARE: u32 = 100;
/// Machines that cannot be looked at are told once, after so many searches: at the first, ranks may have been
/// in MPI_Init.
const SAID_AFTER: u32 = 2;

/// Each observation is of two looks, between which the process can do other things.
pub struct DeadlockWatch {
    /// How other machines are looked at; None: they are not.
    ways: Option<Ways>,
    /// Searches for the job on other machines, while no rank is on this one.
    elsewhere: Searches,
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
    /// Searches for its other machines, and then for those that could not be looked at.
    searches: Searches,
}

impl DeadlockWatch {
    /// The first look comes after some time. `ways` lead to other machines.
    pub fn begin(now: Instant, ways: Option<Ways>) -> DeadlockWatch {
        DeadlockWatch {
            ways,
            elsewhere: Searches::after(TRY_AGAIN),
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

    /// Looks at the jobs that this process has started. Returns one that is in a deadlock.
    pub fn look(&mut self) -> Option<JobAddress> {
        let before = processor_time::of_this_process();
        let found = if self.has_begun {
            self.look_again()
        } else {
            self.look_first();
            None
        };
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

    fn look_first(&mut self) {
        let me = std::process::id();
        let mut known = std::mem::take(&mut self.jobs);
        let mut here = discovery::jobs().jobs;
        here.retain(|job| job.has_been_started_by(me));
        if here.is_empty() {
            let at = known.iter().position(|it| it.job.is_elsewhere());
            let elsewhere = at.map(|at| known.swap_remove(at)).or_else(|| self.search_elsewhere());
            self.jobs.extend(elsewhere);
        } else {
            drop(self.elsewhere.found()); // ends what it has started on other machines
        }
        for job in here {
            // Without a number, its ranks are still in MPI_Init.
            let Some(number) = job.number() else { continue };
            let at = known.iter().position(|it| it.job.head.number == Some(number));
            self.jobs.push(match at.map(|at| known.swap_remove(at)) {
                Some(mut watched) => {
                    watched.job.renew(job);
                    watched
                }
                None => Watched::begin(WholeJob::here(job)),
            });
        }
        for watched in &mut self.jobs {
            if let Some(ways) = &self.ways {
                watched.search(ways);
            }
            watched.first = watched.job.first_look();
        }
    }

    /// Searches for the job on the machines where the launcher may have started it.
    fn search_elsewhere(&mut self) -> Option<Watched> {
        let ways = self.ways.as_ref()?;
        if let Some(found) = self.elsewhere.found() {
            if self.elsewhere.begun() == SAID_AFTER {
                say_left_out(&found.left_out);
            }
            let run = discovery::run_value(std::process::id());
            return WholeJob::elsewhere(&run, found).map(Watched::begin);
        }
        if self.elsewhere.is_due() {
            match WholeJob::search_elsewhere(ways, self.elsewhere.begun()) {
                Ok(Some(search)) => self.elsewhere.begin(search),
                Ok(None) => self.elsewhere.give_up(),
                Err(error) => {
                    say_why_not(&error);
                    self.elsewhere.give_up();
                }
            }
        }
        None
    }

    fn look_again(&mut self) -> Option<JobAddress> {
        self.jobs.iter_mut().find_map(|Watched { job, first, .. }| {
            let seen = job.second_look(first.take());
            findings::is_deadlocked(&seen).then(|| job.address())
        })
    }
}

impl Watched {
    fn begin(job: WholeJob) -> Watched {
        Watched { job, first: None, searches: Searches::after(Duration::ZERO) }
    }

    /// Searches for the job's other machines, from time to time for those that could not be looked at.
    fn search(&mut self, ways: &Ways) {
        if let Some(found) = self.searches.found() {
            self.job.take(found);
            if self.searches.begun() == SAID_AFTER {
                say_left_out(self.job.left_out());
            }
        }
        if !self.searches.is_due() {
            return;
        }
        match self.job.search(ways) {
            Ok(Some(search)) => self.searches.begin(search),
            Ok(None) => {}
            Err(error) => {
                say_why_not(&error);
                self.searches.give_up();
            }
        }
    }
}

fn say_why_not(error: &JobError) {
    eprintln!("evenkeel: ranks on other machines are not looked at: {error}");
}

/// Says which machines cannot be looked at.
fn say_left_out(left_out: &[LeftOut]) {
    let left_out: Vec<&LeftOut> = left_out.iter().filter(|machine| !machine.is_over).collect();
    let Some(first) = left_out.first() else { return };
    let more = if left_out.len() > 1 { format!(" and {} more", left_out.len() - 1) } else { String::new() };
    eprintln!(
        "evenkeel: ranks on {}{more} cannot be looked at, so deadlocks that depend on them are not found: \
         {}.",
        first.host, first.why
    );
}
