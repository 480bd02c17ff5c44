//! The command line of `evenkeel check`.

use crate::commands::value_parsers;
use evenkeel_check::finding::{Rule, Severity};
use std::path::PathBuf;

/// Say which MPI calls of a recorded run were wrong, and where in the program
///
/// The run must have been recorded with `evenkeel run --trace DIRECTORY --trace-level checks`;
/// `evenkeel run --check` does both. An error or a warning is a violation of the MPI standard in this very
/// run, named with its clause; what cannot be proved is not said. The exit code is 1 if there are errors.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel run --check -n 4 -- ./app                    run, and say what was wrong
  evenkeel run --trace t --trace-level checks -n 4 -- ./app
  evenkeel check t                                      what was wrong in that run
  evenkeel check t --severity error --format json       errors only, for a program
  evenkeel check t --rules message,collective           by two rules

Rules: deadlock, collective, message, unmatched, overlap, modified, handle, leak, buffering, race.")]
pub struct CheckArguments {
    /// The folder of the trace
    #[arg(value_name = "DIRECTORY")]
    pub trace: PathBuf,
    /// What is written
    #[arg(long, value_enum, default_value = "text")]
    pub format: CheckFormat,
    /// Look only for errors of these kinds, separated by commas; they are listed below
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = value_parsers::rule)]
    pub rules: Vec<Rule>,
    /// Show findings that are at least this bad: error, warning or note
    #[arg(long, value_name = "SEVERITY", default_value = "note", value_parser = value_parsers::severity)]
    pub severity: Severity,
}

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckFormat {
    /// Sentences
    Text,
    /// One value, for programs
    Json,
}
