//! Carries out `evenkeel run`.

use super::arguments::RunArguments;
use crate::errors::{CommandError, LaunchError};
use crate::inject::injections::Injections;
use crate::launch::launcher::{self, LaunchRequest};
use crate::launch::{environment, preparation};
use crate::machine::{cores, process_limit};
use crate::program::loader::Search;
use crate::program::search_path;
use evenkeel_options as options;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use tracing::info;

/// Becomes the launcher, so that its exit code is ours and signals reach it directly. Returns only the line
/// that a dry run prints, or an error.
pub fn run(arguments: &RunArguments) -> Result<String, CommandError> {
    let injections = Injections::new(&arguments.injections)?;
    injections.restrict_cores()?;
    let line = command_line(arguments, &injections)?;
    if arguments.dry_run {
        return Ok(line.for_shell() + "\n");
    }
    info!("the launcher is started: {}", line.for_shell());
    injections.start(arguments.ranks)?;
    let (launcher, words) = line.words.split_first().expect("the launcher is the first word");
    let error = Command::new(launcher).args(words).envs(line.variables).exec();
    Err(LaunchError::Exec { launcher: PathBuf::from(launcher), why: error.to_string() }.into())
}

/// The launcher with its arguments, and variables for the launcher itself.
struct CommandLine {
    words: Vec<String>,
    variables: Vec<(String, String)>,
}

impl CommandLine {
    /// The line as a user would type it.
    fn for_shell(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value}"));
        let words = variables.chain(self.words.iter().cloned());
        words.map(|word| environment::quote(&word)).collect::<Vec<_>>().join(" ")
    }
}

fn command_line(arguments: &RunArguments, injections: &Injections) -> Result<CommandLine, CommandError> {
    check_ranks(arguments.ranks, process_limit::own())?;
    let on_path = search_path::directories();
    let file = search_path::find(&arguments.program[0], &on_path)?;
    let given = arguments.options.with_absolute_paths()?;
    let search = Search::of_this_machine();
    let prepared = preparation::prepare(Some(&file), arguments.mpi.mpi, &given, &search, &on_path)?;
    if let Some(warning) = &prepared.warning {
        eprintln!("evenkeel: {warning}");
    }
    let launcher = match arguments.mpi.launcher.as_deref() {
        Some(name) => launcher::named(name, prepared.library.maker, &on_path)?,
        None => launcher::of_library(&prepared.library, &on_path)?,
    };
    let places = prepared.variables.iter().all(|(name, value)| name != options::PLACE.env || value != "none");
    let request = LaunchRequest {
        ranks: arguments.ranks,
        variables: [prepared.variables, injections.variables()].concat(),
        extra: launcher_arguments(&arguments.launcher_args)?,
        // Launchers search a bare name in the current directory first. The file that was examined is the one
        // to run.
        program: file.display().to_string(),
        arguments: arguments.program[1..].to_vec(),
        evenkeel_places: places || injections.restricts_cores(),
    };
    let variables = launcher::own_variables(
        launcher.style,
        rustix::process::geteuid().is_root(),
        prepared.one_session.as_deref(),
        &environment::preloaded(),
    );
    let physical_cores = cores::physical(&cores::usable());
    Ok(CommandLine { words: launcher::command(&launcher, &request, physical_cores)?, variables })
}

/// The words of all `--launcher-args`.
fn launcher_arguments(given: &[String]) -> Result<Vec<String>, LaunchError> {
    let mut words = Vec::new();
    for arguments in given {
        words.extend(
            shell_words::split(arguments)
                .map_err(|_| LaunchError::LauncherArguments { arguments: arguments.clone() })?,
        );
    }
    Ok(words)
}

/// Refuses more ranks than processes are allowed. The launcher would fail half way, with an error
/// of its own.
pub fn check_ranks(ranks: u32, limit: Option<(u64, String)>) -> Result<(), LaunchError> {
    match limit {
        Some((most, limit)) if u64::from(ranks) > most => {
            Err(LaunchError::TooManyRanks { ranks, most, limit })
        }
        _ => Ok(()),
    }
}
