//! Reads a list of findings.

use crate::errors::FileError;
use evenkeel_debug::answers::Finding;
use std::path::Path;

/// A list by itself, or one among other things that a command says.
#[derive(serde::Deserialize)]
#[serde(untagged, expecting = "it has no list of findings with `rule`, `severity` and `text`")]
enum List {
    Alone(Vec<Finding>),
    WithOthers { findings: Vec<Finding> },
}

/// Findings of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Finding>, FileError> {
    let unreadable = |why: String| FileError::FindingsNotReadable { path: path.to_path_buf(), why };
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
    let list: List = serde_json::from_str(&text).map_err(|e| unreadable(e.to_string()))?;
    Ok(match list {
        List::Alone(findings) | List::WithOthers { findings } => findings,
    })
}
