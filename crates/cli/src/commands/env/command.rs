//! Carries out `evenkeel env`.

use super::arguments::{EnvArguments, EnvFormat};
use crate::errors::{CommandError, LaunchError};
use crate::launch::environment;
use crate::launch::launcher::{self, LauncherStyle, Placement};
use crate::launch::preparation::prepare;
use crate::machine::cores;
use crate::program::loader::Search;
use crate::program::mpi::Maker;
use crate::program::search_path;
use evenkeel_options as options;
use std::path::PathBuf;

/// Returns the arguments or the lines that are printed.
pub fn env(arguments: &EnvArguments) -> Result<String, CommandError> {
    if arguments.mpi.launcher.as_deref() == Some(launcher::OWN) {
        return Err(LaunchError::EnvOfOwnLauncher.into());
    }
    if let Some((env, _)) = arguments.options.given.iter().find(|(env, _)| options::is_of_run_alone(env)) {
        let option = options::ALL.iter().find(|option| option.env == env);
        let option = option.map_or(env.clone(), |option| format!("--{}", option.name));
        return Err(LaunchError::EnvOfRun { option }.into());
    }
    let is_for_ranks = |env: &str| !options::is_of_run_alone(env);
    arguments.options.check_environment(is_for_ranks, |name| std::env::var_os(name))?;
    let on_path = search_path::directories();
    let program = arguments.program.as_deref();
    let file = program.map(|name| search_path::find(name, &on_path)).transpose()?;
    let given = arguments.options.with_absolute_paths()?;
    let search = Search::of_this_machine();
    let prepared = prepare(file.as_deref(), arguments.mpi.mpi, &given, &search, &on_path)?;
    if let Some(warning) = &prepared.warning {
        eprintln!("evenkeel: {warning}");
    }
    let places = arguments.options.value(&options::PLACE) != "none";
    let placement = |ranks| Placement::of(ranks, places, cores::physical(&cores::usable()));
    let style = || match arguments.mpi.launcher.as_deref() {
        Some(name) => {
            // It need not be installed here.
            let file = search_path::find(name, &on_path).unwrap_or_else(|_| PathBuf::from(name));
            launcher::style_of(&file, prepared.library.maker)
        }
        None => Ok(LauncherStyle::of(prepared.library.maker)),
    };
    match arguments.format {
        EnvFormat::Shell => {
            let is_open_mpi = prepared.library.maker == Maker::OpenMpi;
            let for_launcher = arguments.ranks.filter(|_| is_open_mpi).map(placement);
            let for_launcher = for_launcher.map(Placement::variables).unwrap_or_default();
            Ok(environment::as_shell(&[prepared.variables, for_launcher].concat()))
        }
        EnvFormat::Args => {
            let style = style()?;
            let mut words = Vec::new();
            if let Some(ranks) = arguments.ranks {
                words.extend(["-n".to_string(), ranks.to_string()]);
                let is_open_mpi = style == LauncherStyle::OpenMpi;
                let placement = Some(placement(ranks)).filter(|_| is_open_mpi).map(Placement::arguments);
                words.extend(placement.into_iter().flatten().map(String::from));
            }
            words.push(environment::as_arguments(style, &prepared.variables)?);
            Ok(words.join(" ") + "\n")
        }
    }
}
