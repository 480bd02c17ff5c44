//! What is run on each host of a measurement.

use crate::commands::model::arguments::MeasureArguments;
use crate::errors::MeasurementError;
use evenkeel_node::RemoteShell;

/// Variables with this beginning are passed on: they select UCX's devices and transports.
const PASSED_ON: &str = "UCX_";

/// How the processes of a measurement are started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The way to a host.
    pub shell: RemoteShell,
    /// What is run there.
    pub words: Vec<String>,
}

impl Start {
    /// This program's hidden command, with variables that are passed on.
    pub fn new(arguments: &MeasureArguments, passed_on: &[String]) -> Result<Start, MeasurementError> {
        let program = std::env::current_exe().map_err(|e| MeasurementError::Failed {
            why: format!("this program cannot find its own file ({e})"),
        })?;
        let shell = RemoteShell::parse(&arguments.remote_shell)
            .ok_or_else(|| MeasurementError::RemoteShell { given: arguments.remote_shell.clone() })?;
        let mut words = Vec::new();
        if !passed_on.is_empty() {
            words.push("env".to_string());
            words.extend_from_slice(passed_on);
        }
        words.extend([program.to_string_lossy().into_owned(), "model".into(), "node".into()]);
        Ok(Start { shell, words })
    }
}

/// The variables that are passed on, as `NAME=value`, sorted.
pub fn variables_passed_on() -> Vec<String> {
    let pair = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some(format!("{}={}", name.to_str().filter(|name| name.starts_with(PASSED_ON))?, value.to_str()?))
    };
    let mut found: Vec<String> = std::env::vars_os().filter_map(pair).collect();
    found.sort();
    found
}
