//! Files that commands write on request.

use crate::errors::Failure;
use std::path::Path;

/// Writes a file, or says which one could not be written and why.
pub fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text)
        .map_err(|e| Failure::Unwritable { path: file.to_path_buf(), why: e.to_string() })
}
