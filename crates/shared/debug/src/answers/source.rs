//! The text of the program at a place.

use super::question::{Question, Wrong};
use crate::run::Run;
use serde_json::{Value, json};
use std::io::Read;

/// Lines before and after the one that is asked for.
const AROUND: usize = 6;
/// Longer files are not written by people.
const LONGEST_BYTES: u64 = 8 << 20;
/// Longer lines are cut.
const LONGEST_LINE: usize = 400;

/// The lines around a site. Only files that the program's own debug information names are read: the question
/// has the number of a site, not a path.
pub(super) fn source(run: &Run, question: &Question) -> Result<Value, Wrong> {
    let site = run.places.get(question.index("site")? as usize).ok_or(Wrong::NoSuchCall)?;
    if site.file.is_empty() {
        return Ok(json!({"file": "", "why": "the program has no debug information for this place (-g)"}));
    }
    let text = match read(&site.file) {
        Ok(text) => text,
        Err(why) => return Ok(json!({"file": site.file, "line": site.line, "why": why.to_string()})),
    };
    let line = site.line as usize;
    let first = line.saturating_sub(AROUND).max(1);
    let shown = text.lines().skip(first - 1).take(line + AROUND + 1 - first);
    let lines: Vec<String> = shown.map(|line| line.chars().take(LONGEST_LINE).collect()).collect();
    Ok(json!({"file": site.file, "line": line, "first": first, "lines": lines}))
}

fn read(path: &str) -> std::io::Result<String> {
    let other = |why: &str| std::io::Error::other(why.to_string());
    // A device or a pipe would never end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(other("it is not a file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LONGEST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
