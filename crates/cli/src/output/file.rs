//! Files that commands write on request: regular ones whole or not at all.

use super::place::Place;
use crate::errors::FileError;
use evenkeel_output_file::obstacle;
use serde::Serialize;
use std::path::Path;

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

/// A file that a command writes, if it was asked for, behind what names it on the command line: `--json`.
pub type Output<'a> = (&'static str, Option<&'a Path>);

/// Refuses files that could not be written, and those that [`check_apart`] refuses. To be called before work
/// whose result would be lost.
pub fn check_outputs(outputs: &[Output], inputs: &[&Path]) -> Result<(), FileError> {
    check_apart(outputs, inputs)?;
    let mut files = outputs.iter().filter_map(|(_, file)| *file);
    files.try_for_each(|file| obstacle(file).map_or(Ok(()), |error| Err(error.into())))
}

/// Refuses to write a file that is read, or one file twice, by whatever names. Several outputs may go to a
/// device, a pipe or standard output.
pub fn check_apart(outputs: &[Output], inputs: &[&Path]) -> Result<(), FileError> {
    let is_there = |place: &Place| matches!(place, Place::There(..));
    let read: Vec<Place> = inputs.iter().filter_map(|file| Place::of(file).filter(is_there)).collect();
    let mut written: Vec<(&'static str, Place)> = Vec::new();
    for (name, file) in outputs.iter().filter_map(|(name, file)| Some((*name, (*file)?))) {
        let Some(place) = Place::of(file) else { continue };
        if read.contains(&place) {
            return Err(FileError::OutputIsInput { path: file.into(), name });
        }
        if let Some((other, _)) = written.iter().find(|(_, there)| *there == place) {
            return Err(FileError::OutputsAreOne { path: file.into(), names: [*other, name] });
        }
        written.push((name, place));
    }
    Ok(())
}

/// The sentence about a page or a picture that was written.
pub fn written_for_browser(file: &Path) -> String {
    format!("{} written: open it in a browser.", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_read_and_written_or_written_twice() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("in"), "").unwrap();
        std::os::unix::fs::symlink("in", at("link")).unwrap();
        let check = |json: &str, html: &str| {
            let (json, html) = (at(json), at(html));
            check_outputs(&[("--json", Some(&json)), ("--svg", None), ("--html", Some(&html))], &[&at("in")])
        };
        check("a", "b").unwrap();
        check("/dev/null", "/dev/null").unwrap();
        let said = check("a", "link").unwrap_err().to_string();
        assert!(said.contains("link (--html): this command reads that file"), "{said}");
        let said = check("a", "./a").unwrap_err().to_string();
        assert!(said.contains("a: --json and --html name this file"), "{said}");
    }
}
