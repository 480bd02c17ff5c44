//! Carries out `evenkeel where`.

use super::arguments::WhereArguments;
use super::record::JobStanding;
use super::text;
use crate::errors::CommandError;
use crate::jobs::findings;
use crate::jobs::machines::{self, Ways, WholeJob};
use crate::output::terminal;

/// Looks at the job and returns what is seen.
pub fn whereabouts(arguments: &WhereArguments) -> Result<String, CommandError> {
    let ways = Ways { hosts: arguments.hosts.clone(), shell: arguments.remote_shell.clone() };
    let mut job = WholeJob::open(arguments.job, &ways)?;
    let seen = job.observe();
    let found = findings::findings(&seen);
    let taken = arguments.stacks.map(|choice| job.stacks(&seen, &found, choice));
    if arguments.json {
        let record = JobStanding::new(&job, &seen, &found, taken.as_ref());
        return Ok(serde_json::to_string_pretty(&record).expect("records consist of plain data") + "\n");
    }
    Ok(text::text(&job, &seen, &found, taken.as_ref(), terminal::width()))
}

/// Answers an `evenkeel where` on another machine, until that has ended.
pub fn respond() -> String {
    machines::serve();
    String::new()
}
