//! `evenkeel run --timeout` and `--deadlock`: a job that takes too long, or whose ranks wait for each other
//! for ever, says where it is, and is ended.

use super::child;
use super::deadlock_watch::DeadlockWatch;
use super::hang_report;
use super::named_hosts;
use crate::commands::launch_arguments::EngineOptions;
use crate::commands::value_parsers;
use crate::errors::{CommandError, LaunchError};
use crate::jobs::discovery;
use crate::jobs::machines::{JobAddress, Ways};
use crate::jobs::process;
use crate::output::outcome::Outcome;
use evenkeel_launch::Watch;
use evenkeel_options::{self as options, OptionSpec};
use rustix::process::{Pid, Signal, kill_process};
use std::cell::LazyCell;
use std::time::{Duration, Instant};

/// What happens when the job is in a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDeadlock {
    Report,
    End,
}

/// What a run is watched for.
pub struct Supervision {
    /// How long it may take, and that as it was typed.
    limit: Option<(Duration, String)>,
    on_deadlock: Option<OnDeadlock>,
    /// What is said of a job that hangs includes where its ranks are.
    is_looked_at: bool,
    /// Where other machines are looked for, at the end. To find the launcher's hosts can take files, and
    /// programs of a batch system, which are left alone until then.
    ways: LazyCell<Ways, Box<dyn FnOnce() -> Ways>>,
    /// Deadlocks between machines are looked for, too: only if that is asked for, since it takes a process on
    /// each of them.
    watches_all_machines: bool,
}

impl Supervision {
    /// What the options ask for, if anything.
    ///
    /// `hosts` gives those on which the launcher starts ranks, as far as that is known. It is asked when the
    /// answer is needed.
    pub fn of(
        given: &EngineOptions,
        hosts: impl FnOnce() -> Vec<String> + 'static,
    ) -> Result<Option<Supervision>, LaunchError> {
        let limit = limit(given)?;
        let on_deadlock = on_deadlock(given, limit.is_some())?;
        let is_looked_at = match given.value(&options::ON_HANG).as_str() {
            "where" => true,
            "end" => false,
            other => return Err(refused(&options::ON_HANG, other, "it must be where or end")),
        };
        let shell = Some(given.value(&options::REMOTE_SHELL)).filter(|shell| !shell.is_empty());
        let is_asked_for = limit.is_some() || on_deadlock.is_some();
        let named = named_hosts::listed(&given.value(&options::HOSTS));
        let ways = move || Ways { hosts: if named.is_empty() { hosts() } else { named }, shell };
        let watches_all_machines = !given.value(&options::DEADLOCK).is_empty();
        Ok(is_asked_for.then_some(Supervision {
            limit,
            on_deadlock,
            is_looked_at,
            ways: LazyCell::new(Box::new(ways)),
            watches_all_machines,
        }))
    }

    fn watched_ways(&self) -> Option<Ways> {
        self.watches_all_machines.then(|| (*self.ways).clone())
    }

    /// The variable by which this run's processes are known.
    pub fn variable(&self) -> (String, String) {
        (discovery::RUN.to_string(), discovery::run_value(std::process::id()))
    }

    /// Runs what starts the ranks, in a child of this process, and returns how it ended.
    pub fn run(
        &self,
        launch: impl FnOnce() -> Result<Outcome, CommandError>,
    ) -> Result<Outcome, CommandError> {
        let mut supervisor = JobSupervisor::begin(self, Instant::now());
        child::run(launch, &mut supervisor, end_what_daemons_have_started)
    }
}

fn refused(option: &OptionSpec, value: &str, why: &str) -> LaunchError {
    LaunchError::Variable { variable: option.env, value: value.to_string(), why: why.to_string() }
}

fn limit(given: &EngineOptions) -> Result<Option<(Duration, String)>, LaunchError> {
    let text = given.value(&options::TIMEOUT);
    if text.is_empty() {
        return Ok(None);
    }
    match value_parsers::duration(&text) {
        Ok(limit) => Ok(Some((limit, text))),
        Err(error) => Err(refused(&options::TIMEOUT, &text, &error.to_string())),
    }
}

fn on_deadlock(given: &EngineOptions, has_limit: bool) -> Result<Option<OnDeadlock>, LaunchError> {
    match given.value(&options::DEADLOCK).as_str() {
        "" if has_limit => Ok(Some(OnDeadlock::Report)),
        "" | "off" => Ok(None),
        "report" => Ok(Some(OnDeadlock::Report)),
        "end" => Ok(Some(OnDeadlock::End)),
        other => Err(refused(&options::DEADLOCK, other, "it must be report, end or off")),
    }
}

/// Looks at a job that runs.
struct JobSupervisor<'a> {
    wanted: &'a Supervision,
    /// None: there is no limit, or one beyond all clocks.
    deadline: Option<Instant>,
    deadlock: Option<(OnDeadlock, DeadlockWatch)>,
}

impl JobSupervisor<'_> {
    fn begin(wanted: &Supervision, now: Instant) -> JobSupervisor<'_> {
        JobSupervisor {
            wanted,
            deadline: wanted.limit.as_ref().and_then(|(limit, _)| now.checked_add(*limit)),
            deadlock: wanted
                .on_deadlock
                .map(|on_deadlock| (on_deadlock, DeadlockWatch::begin(now, wanted.watched_ways()))),
        }
    }

    fn time_is_over(&mut self) {
        self.deadlock = None; // ends what looks on other machines
        let typed = self.wanted.limit.as_ref().map_or("", |(_, typed)| typed);
        eprintln!("evenkeel: the job has not ended within {typed} (--timeout) and is ended.");
        if self.wanted.is_looked_at {
            hang_report::print_all(&self.wanted.ways);
        }
    }

    /// This job is in a deadlock. Returns whether it is to be ended.
    fn is_deadlocked(&mut self, job: &JobAddress, on_deadlock: OnDeadlock) -> bool {
        // It is said once, and does not change.
        self.deadlock = None;
        let ends = on_deadlock == OnDeadlock::End;
        let (and_ends, option) =
            if ends { (" The job is ended", "end") } else { (" The job goes on", "report") };
        eprintln!(
            "evenkeel: the job is in a deadlock: some of its ranks wait for what can never come.{and_ends} \
             (--deadlock {option})."
        );
        if self.wanted.is_looked_at {
            hang_report::print(job, &self.wanted.ways);
        }
        ends
    }
}

impl Watch for JobSupervisor<'_> {
    fn next_look(&self) -> Option<Instant> {
        let look = self.deadlock.as_ref().map(|(_, watch)| watch.next_look());
        self.deadline.into_iter().chain(look).min()
    }

    fn look(&mut self) -> bool {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.time_is_over();
            return true;
        }
        let Some((on_deadlock, watch)) = self.deadlock.as_mut() else { return false };
        let on_deadlock = *on_deadlock;
        watch.look().is_some_and(|job| self.is_deadlocked(&job, on_deadlock))
    }
}

/// Ends ranks on this machine that are no descendants of this process: Slurm's daemons start them.
fn end_what_daemons_have_started() {
    let me = std::process::id();
    let run = Some(discovery::run_value(me));
    for pid in process::all().into_iter().filter(|pid| *pid != me && discovery::run_of(*pid) == run) {
        if let Some(pid) = Pid::from_raw(pid as i32) {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    fn supervision(given: &[(&OptionSpec, &str)]) -> Result<Option<Supervision>, LaunchError> {
        let given = given.iter().map(|(option, value)| (option.env.to_string(), value.to_string()));
        Supervision::of(&EngineOptions { given: given.collect() }, Vec::new)
    }

    #[test]
    fn a_run_is_watched_for_what_is_asked_for() {
        assert!(supervision(&[]).unwrap().is_none());
        let found = supervision(&[(&options::TIMEOUT, "1.5m")]).unwrap().unwrap();
        assert_eq!(found.limit, Some((Duration::from_secs(90), "1.5m".to_string())));
        assert_eq!((found.on_deadlock, found.is_looked_at), (Some(OnDeadlock::Report), true));
        let found = supervision(&[(&options::TIMEOUT, "1"), (&options::DEADLOCK, "off")]).unwrap().unwrap();
        assert_eq!(found.on_deadlock, None);
        let found = supervision(&[(&options::DEADLOCK, "end"), (&options::ON_HANG, "end")]).unwrap().unwrap();
        assert_eq!(
            (found.limit, found.on_deadlock, found.is_looked_at),
            (None, Some(OnDeadlock::End), false)
        );
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for wrong in [
            [(&options::TIMEOUT, "soon"), (&options::ON_HANG, "end")],
            [(&options::TIMEOUT, "1"), (&options::ON_HANG, "x")],
            [(&options::TIMEOUT, "1"), (&options::DEADLOCK, "x")],
        ] {
            let said = supervision(&wrong).err().unwrap().to_string();
            assert!(
                said.starts_with("cannot use EVENKEEL_") && said.ends_with("Correct or unset it."),
                "{said}"
            );
        }
    }

    #[test]
    fn the_next_look_is_the_first_that_is_due() {
        let now = Instant::now();
        let next_look = |given: &[(&OptionSpec, &str)]| {
            let wanted = supervision(given).unwrap().unwrap();
            JobSupervisor::begin(&wanted, now).next_look().map(|at| at - now)
        };
        let (deadline, watch) = ((&options::TIMEOUT, "1"), (&options::DEADLOCK, "end"));
        let interval = next_look(&[watch]).unwrap();
        assert_eq!(next_look(&[deadline, watch]), Some(interval.min(Duration::from_secs(1))));
        assert_eq!(next_look(&[deadline, (&options::DEADLOCK, "off")]), Some(Duration::from_secs(1)));
        assert_eq!(next_look(&[(&options::TIMEOUT, "100h"), watch]), Some(interval));
        assert_eq!(next_look(&[(&options::TIMEOUT, "4000000000000000h"), (&options::DEADLOCK, "off")]), None);
    }

    #[test]
    fn the_hosts_are_looked_for_when_they_are_needed() {
        let asked = Rc::new(Cell::new(0));
        let supervision = |option: &OptionSpec, value: &str| {
            let (given, asked) = (vec![(option.env.to_string(), value.to_string())], asked.clone());
            let hosts = move || {
                asked.set(asked.get() + 1);
                vec!["a".to_string()]
            };
            Supervision::of(&EngineOptions { given }, hosts).unwrap().unwrap()
        };
        let wanted = supervision(&options::TIMEOUT, "1h");
        JobSupervisor::begin(&wanted, Instant::now());
        assert_eq!(asked.get(), 0, "the job may end by itself");
        assert_eq!((&*wanted.ways.hosts, asked.get()), (&["a".to_string()][..], 1));
        JobSupervisor::begin(&supervision(&options::DEADLOCK, "report"), Instant::now());
        assert_eq!(asked.get(), 2, "other machines are watched from the start");
    }
}
