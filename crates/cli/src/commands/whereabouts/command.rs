//! Carries out `evenkeel where`.

use super::arguments::WhereArguments;
use super::record::JobStanding;
use super::text;
use crate::errors::CommandError;
use crate::jobs::{discovery, findings, observation, stacks};
use crate::output::terminal;

/// Looks at the job and returns what is seen.
pub fn whereabouts(arguments: &WhereArguments) -> Result<String, CommandError> {
    let job = discovery::job_named(arguments.job)?;
    let seen = observation::observe(&job);
    let found = findings::findings(&seen);
    let taken = arguments.stacks.map(|choice| stacks::take(&seen, &found, choice));
    if arguments.json {
        let record = JobStanding::new(&job, &seen, &found, taken.as_ref());
        return Ok(serde_json::to_string_pretty(&record).expect("records consist of plain data") + "\n");
    }
    Ok(text::text(&job, &seen, &found, taken.as_ref(), terminal::width()))
}
