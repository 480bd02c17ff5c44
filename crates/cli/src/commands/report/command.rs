//! Carries out `evenkeel report`.

use super::arguments::ReportArguments;
use crate::errors::{CommandError, FileError};
use crate::output::{file, terminal};
use evenkeel_record::{RunRecord, SCHEMA};
use std::path::Path;

/// Returns the summary, or writes the page and says where.
pub fn report(arguments: &ReportArguments) -> Result<String, CommandError> {
    file::check_outputs(&[("--html", arguments.html.as_deref())], &[&arguments.record])?;
    let record = read(&arguments.record)?;
    match &arguments.html {
        None => {
            let summary =
                evenkeel_report::summary(&record, terminal::width(), terminal::colours_are_welcome());
            Ok(if summary.ends_with('\n') { summary } else { summary + "\n" })
        }
        Some(page) => {
            file::write(page, &evenkeel_report::html(&record))?;
            Ok(file::written_for_browser(page) + "\n")
        }
    }
}

/// Reads a record and refuses what it cannot understand.
fn read(path: &Path) -> Result<RunRecord, FileError> {
    let unreadable = |why: String| FileError::RecordNotReadable { path: path.to_path_buf(), why };
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| unreadable(format!("it is not JSON: {e}")))?;
    let schema = value
        .get("schema")
        .and_then(serde_json::Value::as_u64)
        .ok_or_else(|| unreadable("it is JSON, but not the record of a run".into()))?;
    if schema > u64::from(SCHEMA) {
        return Err(FileError::RecordNewer { path: path.to_path_buf(), theirs: schema as u32, ours: SCHEMA });
    }
    serde_json::from_value(value).map_err(|e| unreadable(format!("it is not the record of a run: {e}")))
}
