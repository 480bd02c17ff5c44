//! Carries out `evenkeel replay`: becomes an `evenkeel run` with the recorded arguments.

use super::arguments::ReplayArguments;
use crate::errors::{CommandError, FileError, LaunchError};
use crate::launch::environment;
use crate::launch::trace_folder;
use crate::output::outcome::Outcome;
use evenkeel_options as options;
use std::ffi::OsString;
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
    if let Some(times) = &arguments.times {
        trace_folder::check_apart(&folder, times)?;
    }
    let start = trace_folder::read(&folder)?;
    let given = match &arguments.options {
        Some(given) => shell_words::split(given)
            .map_err(|_| LaunchError::LauncherArguments { arguments: given.clone() })?,
        None => without_files_of_the_run(start.options),
    };
    let recorded = start.program.into_iter().map(OsString::from).collect();
    let program = if arguments.program.is_empty() { recorded } else { arguments.program.clone() };
    let option = |name: &str| OsString::from(format!("--{name}"));
    let mut words = vec!["run".into(), option(options::REPLAY.name), folder.into_os_string()];
    words.extend(given.into_iter().map(OsString::from));
    if let Some(times) = &arguments.times {
        // Of the directory of this command, not of that of the recorded run.
        let folder = std::path::absolute(times).unwrap_or_else(|_| times.clone());
        words.extend([option(options::TRACE.name), folder.into_os_string()]);
        words.extend([option(options::TRACE_LEVEL.name), "times".into()]);
    }
    words.push("--".into());
    words.extend(program);
    // A program that was named anew is named as seen from here.
    let directory = if arguments.program.is_empty() { start.directory } else { PathBuf::from(".") };
    if arguments.dry_run {
        let quoted: Vec<_> = words.iter().map(environment::quote).collect();
        return Ok(format!("evenkeel {}\n", quoted.join(" ")).into());
    }
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("evenkeel"));
    let why = Command::new(&own).args(words).current_dir(directory).exec();
    Err(LaunchError::Exec { launcher: own, why: why.to_string() }.into())
}

/// The options of a recorded run but `--trace`, its level and `--report`: a repetition must not replace what
/// the run has written.
fn without_files_of_the_run(options: Vec<String>) -> Vec<String> {
    let written = [options::TRACE.name, options::TRACE_LEVEL.name, options::REPORT.name]
        .map(|name| format!("--{name}"));
    let mut kept = Vec::new();
    let mut words = options.into_iter();
    while let Some(word) = words.next() {
        if written.contains(&word) {
            words.next();
        } else if !written.iter().any(|option| word.starts_with(&format!("{option}="))) {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without_files_of_the_run;

    #[test]
    fn a_repetition_does_not_write_what_the_run_has_written() {
        let words = |line: &str| line.split(' ').map(String::from).collect::<Vec<_>>();
        let given = words(
            "--trace t --trace-level times -n 4 --report=r.json --trace-checks 1 --report r.html \
             --trace=u --quiet",
        );
        assert_eq!(without_files_of_the_run(given), words("-n 4 --trace-checks 1 --quiet"));
    }
}
