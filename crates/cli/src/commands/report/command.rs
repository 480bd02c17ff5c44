//! `evenkeel report`: reads a run's record from its file and shows it.

use crate::commands::Report;
use crate::errors::Failure;
use crate::output::file as output_file;
use evenkeel_record::{RunRecord, SCHEMA};
use std::io::IsTerminal;
use std::path::Path;

/// Prints the summary, or writes the page and says where.
pub fn report(report: &Report) -> Result<String, Failure> {
    let record = read(&report.record)?;
    match &report.html {
        None => {
            let (width, colour) = terminal();
            Ok(with_end(evenkeel_report::summary(&record, width, colour)))
        }
        Some(file) => {
            output_file::write(file, &evenkeel_report::html(&record))?;
            Ok(format!("{} written: open it in a browser.\n", file.display()))
        }
    }
}

/// Reads a record and refuses what it cannot understand.
pub fn read(file: &Path) -> Result<RunRecord, Failure> {
    let failed = |why: String| Failure::RecordUnreadable { path: file.to_path_buf(), why };
    let text = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| failed(format!("it is not JSON: {e}")))?;
    let schema = value
        .get("schema")
        .and_then(serde_json::Value::as_u64)
        .ok_or_else(|| failed("it is JSON, but no record of a run".into()))?;
    if schema > u64::from(SCHEMA) {
        return Err(Failure::RecordNewer { path: file.to_path_buf(), theirs: schema as u32, ours: SCHEMA });
    }
    serde_json::from_value(value).map_err(|e| failed(format!("it is no record of a run: {e}")))
}

/// Whether a file can be written there, as far as can be known without writing it.
pub fn check_place(file: &Path) -> Result<(), Failure> {
    let failed = |why: String| Failure::Unwritable { path: file.to_path_buf(), why };
    let directory = file.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if file.is_dir() {
        return Err(failed("it is a directory".into()));
    }
    if !directory.is_dir() {
        return Err(failed(format!("there is no directory {}", directory.display())));
    }
    let target = if file.exists() { file } else { directory };
    rustix::fs::access(target, rustix::fs::Access::WRITE_OK).map_err(|e| failed(e.to_string()))
}

fn with_end(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Width of the terminal and whether colours are welcome.
pub fn terminal() -> (usize, bool) {
    let out = std::io::stdout();
    let is_terminal = out.is_terminal();
    let from_terminal =
        rustix::termios::tcgetwinsize(&out).ok().map(|s| usize::from(s.ws_col)).filter(|w| *w > 0);
    let width = from_terminal.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok()).unwrap_or(100);
    let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    (width, is_terminal && !plain)
}
