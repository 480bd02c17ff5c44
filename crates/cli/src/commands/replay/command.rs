//! Carries out `evenkeel replay`: becomes an `evenkeel run` with the recorded arguments.

use super::arguments::ReplayArguments;
use crate::errors::{CommandError, FileError, LaunchError};
use crate::launch::environment;
use crate::launch::trace_folder;
use crate::output::outcome::Outcome;
use evenkeel_options as options;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Becomes the repetition. Returns only the line of a dry run.
pub fn replay(arguments: &ReplayArguments) -> Result<Outcome, CommandError> {
    let unreadable = |why: std::io::Error| FileError::TraceNotReadable {
        path: arguments.trace.clone(),
        why: why.to_string(),
    };
    let folder = arguments.trace.canonicalize().map_err(unreadable)?;
    let start = trace_folder::read(&folder)?;
    let given = match &arguments.options {
        Some(given) => shell_words::split(given)
            .map_err(|_| LaunchError::LauncherArguments { arguments: given.clone() })?,
        None => start.options,
    };
    let program = if arguments.program.is_empty() { start.program } else { arguments.program.clone() };
    let mut words = vec!["run".into(), format!("--{}", options::REPLAY.name), folder.display().to_string()];
    words.extend(given);
    words.push("--".into());
    words.extend(program);
    // A program that was named anew is named as seen from here.
    let directory = if arguments.program.is_empty() { start.directory } else { PathBuf::from(".") };
    if arguments.dry_run {
        let quoted: Vec<_> = words.iter().map(|word| environment::quote(word)).collect();
        return Ok(format!("evenkeel {}\n", quoted.join(" ")).into());
    }
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("evenkeel"));
    let why = Command::new(&own).args(words).current_dir(directory).exec();
    Err(LaunchError::Exec { launcher: own, why: why.to_string() }.into())
}
