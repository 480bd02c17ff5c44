//! Files that commands write on request: regular ones whole or not at all.

use crate::errors::FileError;
use evenkeel_output_file::obstacle;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Writes a file: a regular one whole or not at all, anything else in place.
pub fn write(file: &Path, text: &str) -> Result<(), FileError> {
    Ok(evenkeel_output_file::write(file, text.as_bytes())?)
}

/// Writes a value as JSON for people and programs: indented, with a line break at the end.
pub fn write_json(file: &Path, value: &impl Serialize) -> Result<(), FileError> {
    write(file, &(serde_json::to_string_pretty(value).expect("records consist of plain data") + "\n"))
}

/// Makes a directory and those above it.
pub fn make_directory(directory: &Path) -> Result<(), FileError> {
    let unwritable =
        |e: std::io::Error| FileError::DirectoryNotWritable { path: directory.into(), why: e.to_string() };
    std::fs::create_dir_all(directory).map_err(unwritable)
}

/// Refuses files that could not be written. To be called before work whose result would be lost.
pub fn check_writable<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), FileError> {
    files.into_iter().try_for_each(|file| obstacle(file).map_or(Ok(()), |error| Err(error.into())))
}

/// The sentence about a page or a picture that was written.
pub fn written_for_browser(file: &Path) -> String {
    format!("{} written: open it in a browser.", file.display())
}
