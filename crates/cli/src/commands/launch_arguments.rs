//! Arguments that `evenkeel run` and `evenkeel env` share: which MPI and launcher, and the options of the
//! engine.
//!
//! The engine's options come from the table of which its environment variables and the book are made, too.

use crate::commands::option_values;
use crate::errors::{FileError, LaunchError};
use crate::program::mpi::MpiChoice;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use evenkeel_barrier_table::location::NONE;
use evenkeel_options::{self as options, OptionSpec};
use evenkeel_output_file::{OutputError, obstacle};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Which MPI and which launcher to use, where the user overrides what evenkeel finds.
#[derive(Debug, clap::Args)]
pub struct MpiArguments {
    /// The program's MPI, if evenkeel cannot determine it from the program
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub mpi: MpiChoice,
    /// The launcher to use instead of the one that belongs to the MPI: a path, srun, or evenkeel
    ///
    /// evenkeel: `evenkeel run` starts the ranks of MPICH and its relatives itself, and those of Open MPI if
    /// there is a libpmix, on this machine, without mpiexec or mpirun; with --hosts those of MPICH and its
    /// relatives on these hosts.
    #[arg(long, value_name = "PATH")]
    pub launcher: Option<String>,
}

/// The options of the engine that were given: pairs of environment variable and value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineOptions {
    /// In the order of the table.
    pub given: Vec<(String, String)>,
}

impl EngineOptions {
    /// The value of an option: from the command line, else from the environment, else the default.
    pub fn value(&self, option: &OptionSpec) -> String {
        let given = self.given.iter().find(|(env, _)| env == option.env);
        given.map_or_else(|| option.get(), |(_, value)| value.clone())
    }

    /// Gives these, in place of what was given.
    pub fn set(&mut self, options: Vec<(String, String)>) {
        self.given.retain(|(env, _)| options.iter().all(|(other, _)| other != env));
        self.given.extend(options);
    }

    /// Refuses variables of the environment with values that the command line would refuse. An option that is
    /// given on the command line counts instead of its variable; an empty variable counts as none.
    pub fn check_environment(
        &self,
        is_heeded: impl Fn(&str) -> bool,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<(), LaunchError> {
        let is_given = |env: &str| self.given.iter().any(|(given, _)| given == env);
        for option in options::ALL.iter().filter(|option| is_heeded(option.env) && !is_given(option.env)) {
            let Some(value) = environment(option.env).filter(|value| !value.is_empty()) else { continue };
            let why = match value.to_str() {
                None => Some("it is not UTF-8".to_string()),
                Some(text) => option_values::check(option, text).err().map(|error| error.to_string()),
            };
            if let Some(why) = why {
                let value = value.to_string_lossy().into_owned();
                return Err(LaunchError::Variable { variable: option.env, value, why });
            }
        }
        Ok(())
    }

    /// The options, with the files that they name as absolute paths, because ranks may have another working
    /// directory.
    pub fn with_absolute_paths(&self) -> Result<Vec<(String, String)>, FileError> {
        let text = |path: PathBuf| {
            let text = path.into_os_string().into_string();
            text.map_err(|path| FileError::NameNotUtf8 { path: path.into() })
        };
        let absolute = |(env, value): &(String, String)| {
            let value = match env {
                env if env == options::REPORT.env => text(writable_report(Path::new(value))?)?,
                env if env == options::TRACE.env || env == options::REPLAY.env => {
                    std::path::absolute(value).map_or_else(|_| Ok(value.clone()), text)?
                }
                // The engine reports a table that it cannot read.
                env if env == options::TABLE.env && value != NONE => {
                    std::path::absolute(value).map_or_else(|_| Ok(value.clone()), text)?
                }
                _ => value.clone(),
            };
            Ok((env.clone(), value))
        };
        self.given.iter().map(absolute).collect()
    }
}

/// The absolute path of a report. A file that cannot be written is refused before the run, not after it.
fn writable_report(file: &Path) -> Result<PathBuf, FileError> {
    let unwritable = |e: std::io::Error| {
        FileError::ReportNotWritable(OutputError { path: file.to_path_buf(), obstacle: e.into() })
    };
    let absolute = std::path::absolute(file).map_err(unwritable)?;
    match obstacle(&absolute) {
        Some(error) => Err(FileError::ReportNotWritable(error)),
        None => Ok(absolute),
    }
}

impl Args for EngineOptions {
    fn augment_args(command: Command) -> Command {
        options::ALL.iter().fold(command, |command, option| command.arg(argument(option)))
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for EngineOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut read = EngineOptions::default();
        read.update_from_arg_matches(matches)?;
        Ok(read)
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for option in options::ALL {
            let value = matches.get_one::<String>(option.name);
            self.given.extend(value.map(|value| (option.env.to_string(), value.clone())));
        }
        Ok(())
    }
}

/// One option of the table as an argument. A switch (`0|1`) may stand alone: `--quiet` is `--quiet=1`.
fn argument(option: &'static OptionSpec) -> Arg {
    let default = Some(option.default).filter(|default| !default.is_empty());
    let default = default.map(|default| format!("; default: {default}")).unwrap_or_default();
    let argument = Arg::new(option.name)
        .long(option.name)
        .help(format!("{} [{}]", first_sentence(option.doc), option.env))
        .long_help(format!("{} [{}{default}]", option.doc, option.env))
        .help_heading("Options that are environment variables, too");
    match option_values::closed_list(option) {
        Some(_) if option.values == "0|1" => argument
            .value_name("0|1")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("1")
            .value_parser(PossibleValuesParser::new(["0", "1"])),
        Some(words) => argument
            .value_name(option.values)
            .hide_possible_values(true)
            .value_parser(PossibleValuesParser::new(words)),
        None => argument
            .value_name(option.values)
            .value_parser(|value: &str| option_values::check(option, value).map(|()| value.to_string())),
    }
}

/// The first sentence of a text, without its full stop.
fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text.trim_end_matches('.'), |(sentence, _)| sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn the_short_help_is_the_first_sentence() {
        assert_eq!(first_sentence("Wait by 0.5 ms. Then sleep."), "Wait by 0.5 ms");
        assert_eq!(first_sentence("Print nothing."), "Print nothing");
        for option in options::ALL {
            let sentence = first_sentence(option.doc);
            assert!(sentence.len() > 10 && !sentence.contains('\n'), "{}: {sentence}", option.name);
        }
    }

    #[test]
    fn the_environment_is_checked_as_the_command_line_is() {
        let check = |given: &[(&str, &str)], name: &'static str, value: &'static [u8]| {
            let given = given.iter().map(|(env, value)| (env.to_string(), value.to_string())).collect();
            let environment = |env: &str| (env == name).then(|| OsString::from_vec(value.to_vec()));
            let is_heeded = |env: &str| !options::is_of_run_alone(env);
            let checked = EngineOptions { given }.check_environment(is_heeded, environment);
            checked.map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], "EVENKEEL_PLACE", b"bind"), Ok(()));
        assert_eq!(check(&[], "EVENKEEL_PLACE", b""), Ok(()));
        assert_eq!(check(&[("EVENKEEL_PLACE", "none")], "EVENKEEL_PLACE", b"foo"), Ok(()));
        assert_eq!(check(&[], "EVENKEEL_TIMEOUT", b"foo"), Ok(()), "it is not heeded");
        let said = check(&[], "EVENKEEL_PLACE", b"foo").unwrap_err();
        let whole = "cannot use EVENKEEL_PLACE=foo: it must be auto, bind or none. Correct or unset it.";
        assert_eq!(said, whole);
        assert!(check(&[], "EVENKEEL_OFF", b"yes").unwrap_err().contains("it must be 0 or 1"));
        assert!(check(&[], "EVENKEEL_REPORT", b"\xff").unwrap_err().contains("it is not UTF-8"));
    }
}
