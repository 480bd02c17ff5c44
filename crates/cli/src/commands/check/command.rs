//! Carries out `evenkeel check`.

use super::arguments::{CheckArguments, CheckFormat};
use crate::errors::CommandError;
use crate::findings::{self, json, text};
use crate::output::outcome::Outcome;
use evenkeel_check::finding::Rule;
use evenkeel_check::has_errors;

/// Returns the findings. The exit code says whether there are errors.
pub fn check(arguments: &CheckArguments) -> Result<Outcome, CommandError> {
    let rules = if arguments.rules.is_empty() { &Rule::ALL[..] } else { &arguments.rules };
    let found = findings::of_folder(&arguments.trace, rules, arguments.severity)?;
    let text = match arguments.format {
        CheckFormat::Text => text::text(&found),
        CheckFormat::Json => {
            serde_json::to_string_pretty(&json::value(&found)).expect("findings are plain data") + "\n"
        }
    };
    Ok(Outcome::of_examination(text, !has_errors(&found.findings)))
}
