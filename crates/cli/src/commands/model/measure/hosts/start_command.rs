//! The command that starts a node's process on a host.

use crate::commands::model::arguments::MeasureArguments;
use crate::errors::MeasurementError;
use crate::machine::system::host_name;

/// Variables with this beginning are passed on: they select UCX's devices and transports.
const PASSED_ON: &str = "UCX_";

/// How processes are started on other hosts.
#[derive(Clone, Debug)]
pub struct StartCommand {
    /// The remote shell, and its arguments before the host.
    pub shell: Vec<String>,
    /// What is run there.
    pub words: Vec<String>,
}

impl StartCommand {
    /// The command for this program's hidden command, with variables that are passed on.
    pub fn new(arguments: &MeasureArguments, passed_on: &[String]) -> Result<StartCommand, MeasurementError> {
        let program = std::env::current_exe().map_err(|e| MeasurementError::Failed {
            why: format!("this program cannot find its own file ({e})"),
        })?;
        let shell = shell_words::split(&arguments.remote_shell).ok().filter(|words| !words.is_empty());
        let shell =
            shell.ok_or_else(|| MeasurementError::RemoteShell { given: arguments.remote_shell.clone() })?;
        let mut words = Vec::new();
        if !passed_on.is_empty() {
            words.push("env".to_string());
            words.extend_from_slice(passed_on);
        }
        words.extend([program.to_string_lossy().into_owned(), "model".into(), "node".into()]);
        Ok(StartCommand { shell, words })
    }

    /// The command line for a host. This host needs no shell.
    pub fn line(&self, host: &str) -> Vec<String> {
        if host == host_name() {
            return self.words.clone();
        }
        // A remote shell joins words with blanks, and the shell on the host splits them again.
        let words = self.words.iter().map(|word| shell_words::quote(word).into_owned());
        self.shell.iter().cloned().chain([host.to_string()]).chain(words).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_remote_shell() {
        let command = StartCommand {
            shell: vec!["ssh".into(), "-q".into()],
            words: vec!["/a b/evenkeel".into(), "model".into()],
        };
        assert_eq!(command.line("far.example"), ["ssh", "-q", "far.example", "'/a b/evenkeel'", "model"]);
        assert_eq!(command.line(&host_name()), ["/a b/evenkeel", "model"]);
    }
}
