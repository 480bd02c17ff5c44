//! `evenkeel run --share`: the job takes turns with the other jobs of this user that were started so.

use super::named_hosts;
use crate::commands::launch_arguments::EngineOptions;
use crate::commands::value_parsers;
use crate::errors::LaunchError;
use crate::launch::launcher::LauncherStyle;
use evenkeel_options as options;
use evenkeel_share::{JOB_VARIABLE, Mechanism, Membership, Request, Waiting};
use std::path::PathBuf;
use std::time::Duration;
use tracing::info;

/// How a job is to take turns.
pub struct Sharing(Request);

impl Sharing {
    /// What the options ask for, if anything.
    pub fn of(given: &EngineOptions, ranks: u32) -> Result<Option<Sharing>, LaunchError> {
        if matches!(given.value(&options::SHARE).as_str(), "" | "0") {
            return Ok(None);
        }
        if std::env::var_os(JOB_VARIABLE).is_some() {
            // It is switched with the job of which it is a part.
            info!("this job is a part of one that takes turns");
            return Ok(None);
        }
        let quantum = given.value(&options::QUANTUM);
        let quantum = value_parsers::duration(&quantum).map_err(|error| LaunchError::Variable {
            variable: options::QUANTUM.env,
            value: quantum,
            why: error.to_string(),
        })?;
        // The table of options has refused what is no number.
        let number = |option| given.value(option).parse::<u64>().unwrap_or(0);
        Ok(Some(Sharing(Request {
            ranks,
            memory_bytes: number(&options::MEMORY) << 20,
            rate: number(&options::RATE) as u32,
            quantum_ns: quantum.min(LONGEST).as_nanos() as u64,
            mechanism: Mechanism::named(&given.value(&options::SWITCH)),
            runtime_directory: std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from),
            is_verbose: !is_quiet(given),
        })))
    }

    /// Variables that the ranks must have.
    pub fn variable(&self) -> (String, String) {
        (JOB_VARIABLE.to_string(), std::process::id().to_string())
    }

    /// Refuses launchers whose ranks are no descendants of this process. None: evenkeel itself.
    pub fn check_launcher(
        &self,
        style: Option<LauncherStyle>,
        arguments: &[String],
    ) -> Result<(), LaunchError> {
        if style == Some(LauncherStyle::Slurm) {
            let what = "srun, whose daemons start the ranks".to_string();
            return Err(LaunchError::ShareElsewhere { what });
        }
        match named_hosts::of_launcher(arguments).first() {
            Some(host) => Err(LaunchError::ShareElsewhere { what: format!("the host {host}") }),
            None => Ok(()),
        }
    }

    /// Joins the jobs that take turns; returns when this one has its place.
    pub fn join(&self) -> Result<Membership, LaunchError> {
        let membership = evenkeel_share::join(&self.0, |Waiting { position }| {
            eprintln!("evenkeel: the job waits for memory; its position in the queue is {position}.");
        });
        Ok(membership?)
    }

    /// The job has ended, and this process is still here to say how it was switched.
    pub fn finish(&self, membership: Membership) {
        let summary = membership.finish();
        if let Some(summary) = summary.filter(|summary| self.0.is_verbose && summary.lateness.switches() > 0)
        {
            eprintln!("evenkeel: {}", summary.sentence());
        }
    }
}

/// No slot is longer.
const LONGEST: Duration = Duration::from_secs(3600);

fn is_quiet(given: &EngineOptions) -> bool {
    !matches!(given.value(&options::QUIET).as_str(), "" | "0")
}
