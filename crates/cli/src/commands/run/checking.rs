//! `evenkeel run --check`: what the calls have passed is recorded while the program runs, and judged when it
//! has ended, however it has ended.

use super::child;
use crate::errors::{CommandError, FileError};
use crate::findings::{self, text};
use crate::output::outcome::Outcome;
use evenkeel_check::finding::{Rule, Severity};
use evenkeel_check::has_errors;
use evenkeel_options as options;
use std::path::PathBuf;
use tempfile::TempDir;

/// The exit code of a run whose program has succeeded, and in which errors were found.
const EXIT_ERRORS: u8 = 121;

/// The folder that gets what is recorded.
#[derive(Debug)]
pub struct Checking {
    folder: PathBuf,
    /// Removed in the end, unless the user has named a folder.
    temporary: Option<TempDir>,
}

impl Checking {
    /// `trace`: the folder that the user has named, or nothing.
    pub fn begin(trace: &str) -> Result<Checking, FileError> {
        if !trace.is_empty() {
            return Ok(Checking { folder: PathBuf::from(trace), temporary: None });
        }
        let made = tempfile::Builder::new().prefix("evenkeel-check-").tempdir();
        let unwritable = |e: std::io::Error| FileError::DirectoryNotWritable {
            path: std::env::temp_dir(),
            why: e.to_string(),
        };
        let made = made.map_err(unwritable)?;
        Ok(Checking { folder: made.path().to_path_buf(), temporary: Some(made) })
    }

    /// Options that are given to the ranks.
    pub fn options(&self) -> Vec<(String, String)> {
        vec![
            (options::TRACE.env.to_string(), self.folder.display().to_string()),
            (options::TRACE_LEVEL.env.to_string(), "checks".to_string()),
        ]
    }

    /// Runs what starts the ranks in a child of this process, which it may become, and prints what was found.
    pub fn run(
        self,
        launch: impl FnOnce() -> Result<Outcome, CommandError>,
    ) -> Result<Outcome, CommandError> {
        let outcome = child::run_unwatched(launch)?;
        Ok(self.finish(outcome))
    }

    /// Prints what was found. Returns the outcome with the exit code that follows from it.
    pub fn finish(self, outcome: Outcome) -> Outcome {
        let has_errors = match findings::of_folder(&self.folder, &Rule::ALL, Severity::Note) {
            Ok(found) => {
                for line in text::text(&found).lines() {
                    eprintln!("evenkeel: {line}");
                }
                has_errors(&found.findings)
            }
            Err(error) => {
                eprintln!("evenkeel: {error}");
                false
            }
        };
        if let Some(temporary) = self.temporary {
            let _ = temporary.close(); // what cannot be removed lies among temporary files
        }
        let code = if outcome.code == 0 && has_errors { EXIT_ERRORS } else { outcome.code };
        Outcome { code, ..outcome }
    }
}
