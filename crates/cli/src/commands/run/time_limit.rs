//! `evenkeel run --timeout`: a job whose time is over says where it is, and is ended.

use crate::commands::launch_arguments::EngineOptions;
use crate::commands::value_parsers;
use crate::errors::{CommandError, LaunchError};
use crate::jobs::{discovery, process};
use crate::output::outcome::Outcome;
use evenkeel_launch::Limited;
use evenkeel_options as options;
use rustix::process::{Pid, Signal, kill_process};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The exit code when the time was over, as that of timeout(1).
const EXIT_TIME_OVER: u8 = 124;

/// How long the launcher has to end the job.
const GRACE: Duration = Duration::from_secs(5);

/// How long the look at a job may take.
const LOOK: Duration = Duration::from_secs(20);

/// How long a job may take.
pub struct TimeLimit {
    limit: Duration,
    /// As it was typed.
    text: String,
    is_looked_at: bool,
}

impl TimeLimit {
    /// The limit that the options ask for, if any.
    pub fn of(given: &EngineOptions) -> Result<Option<TimeLimit>, LaunchError> {
        let text = given.value(&options::TIMEOUT);
        if text.is_empty() {
            return Ok(None);
        }
        let refused = |variable, value: &str, why: String| LaunchError::Variable {
            variable,
            value: value.to_string(),
            why,
        };
        let limit = value_parsers::duration(&text)
            .map_err(|error| refused(options::TIMEOUT.env, &text, error.to_string()))?;
        let is_looked_at = match given.value(&options::ON_HANG).as_str() {
            "where" => true,
            "end" => false,
            other => {
                let why = "it must be where or end".into();
                return Err(refused(options::ON_HANG.env, other, why));
            }
        };
        Ok(Some(TimeLimit { limit, text, is_looked_at }))
    }

    /// The variable by which this run's processes are known.
    pub fn variable(&self) -> (String, String) {
        (discovery::RUN.to_string(), std::process::id().to_string())
    }

    /// Runs what starts the ranks, in a child of this process, and returns the exit code.
    pub fn run(
        &self,
        launch: impl FnOnce() -> Result<Outcome, CommandError>,
    ) -> Result<Outcome, CommandError> {
        let start = || match launch() {
            Ok(outcome) => outcome.code,
            Err(error) => {
                eprintln!("evenkeel: {error}");
                error.exit_code()
            }
        };
        match evenkeel_launch::run_within(self.limit, GRACE, start, || self.tell()) {
            Ok(Limited::Ended(code)) => Ok(Outcome::of_program(code)),
            Ok(Limited::TimeOver) => {
                end_what_daemons_have_started();
                Ok(Outcome::of_program(EXIT_TIME_OVER))
            }
            Err(error) => Err(LaunchError::from(error).into()),
        }
    }

    /// Says on standard error that the time is over, and where the job is.
    fn tell(&self) {
        eprintln!("evenkeel: the job has not ended within {} (--timeout) and is ended.", self.text);
        if !self.is_looked_at {
            return;
        }
        let me = std::process::id();
        let jobs = discovery::jobs().jobs;
        let jobs: Vec<u32> =
            jobs.iter().filter(|job| job.has_been_started_by(me)).filter_map(|job| job.lowest()).collect();
        if jobs.is_empty() {
            eprintln!(
                "evenkeel: where its ranks are is not known: none on this machine is under evenkeel between \
                 MPI_Init and its end."
            );
        }
        for rank in jobs {
            look(rank);
        }
    }
}

/// Prints what `evenkeel where` says of a rank's job on standard error.
fn look(rank: u32) {
    let looking = std::env::current_exe().and_then(|program| {
        let error = std::io::stderr().as_fd().try_clone_to_owned()?;
        Command::new(program)
            .args(["where", &rank.to_string(), "--stacks"])
            .stdin(Stdio::null())
            .stdout(error)
            .spawn()
    });
    match looking.map(wait) {
        Ok(true) => {}
        Ok(false) => eprintln!("evenkeel: looking at the job took longer than {} s.", LOOK.as_secs()),
        Err(error) => eprintln!("evenkeel: cannot look at the job: {error}."),
    }
}

/// Whether the look has ended in time.
fn wait(mut looking: Child) -> bool {
    const LOOK_EVERY: Duration = Duration::from_millis(5);
    let begun = Instant::now();
    while begun.elapsed() < LOOK {
        if !matches!(looking.try_wait(), Ok(None)) {
            return true;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let _ = looking.kill();
    false
}

/// Ends ranks on this machine that are no descendants of this process: Slurm's daemons start them.
fn end_what_daemons_have_started() {
    let me = std::process::id();
    for pid in process::all().into_iter().filter(|pid| *pid != me && discovery::is_of_run(*pid, me)) {
        if let Some(pid) = Pid::from_raw(pid as i32) {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(given: &[(&options::OptionSpec, &str)]) -> Result<Option<TimeLimit>, LaunchError> {
        let given = given.iter().map(|(option, value)| (option.env.to_string(), value.to_string()));
        TimeLimit::of(&EngineOptions { given: given.collect() })
    }

    #[test]
    fn a_limit_is_read_and_what_is_none_is_refused() {
        assert!(limit(&[]).unwrap().is_none());
        let found = limit(&[(&options::TIMEOUT, "1.5m")]).unwrap().unwrap();
        assert_eq!((found.limit, found.is_looked_at), (Duration::from_secs(90), true));
        let found = limit(&[(&options::TIMEOUT, "1"), (&options::ON_HANG, "end")]).unwrap().unwrap();
        assert!(!found.is_looked_at);
        for wrong in
            [&[(&options::TIMEOUT, "soon")][..], &[(&options::TIMEOUT, "1"), (&options::ON_HANG, "x")]]
        {
            let said = limit(wrong).err().unwrap().to_string();
            assert!(
                said.starts_with("cannot use EVENKEEL_") && said.ends_with("Correct or unset it."),
                "{said}"
            );
        }
    }
}
