//! Two sources of a run record: JSON text, and the records of the ranks.

use crate::lateness;
use evenkeel_record::{RankRecord, RunRecord, SCHEMA};
use thiserror::Error;

/// Why a text is not a run record. Messages are sentences for the user who gave the file.
#[derive(Debug, Error, PartialEq)]
pub enum ParseError {
    /// There is no text.
    #[error("the file is empty: the run that should have written it was killed, or is still going on")]
    Empty,
    /// The JSON ends too early.
    #[error(
        "the file ends in the middle of the record (after {bytes} bytes): \
         it was cut off while being written or copied"
    )]
    Truncated {
        /// Length of the text.
        bytes: usize,
    },
    /// The text is not JSON.
    #[error("this is not JSON ({why}), so it cannot be a record that `--report` wrote")]
    NotJson {
        /// What the JSON reader says.
        why: String,
    },
    /// JSON of something else.
    #[error("this is JSON, but not a record that `--report` wrote: it has no \"schema\" number")]
    NotARecord,
    /// The layout is newer than [`SCHEMA`].
    #[error(
        "the record has layout {found} (written by evenkeel {version}), this evenkeel reads up to {SCHEMA}: \
         use a newer evenkeel"
    )]
    NewerLayout {
        /// The record's layout.
        found: u64,
        /// The evenkeel that wrote it.
        version: String,
    },
    /// The layout is known, but fields are missing or have wrong types.
    #[error("the record is damaged: {why}")]
    Damaged {
        /// What the JSON reader says.
        why: String,
    },
}

/// Reads the JSON that `--report` writes.
///
/// # Errors
/// The text is not such JSON, or a newer evenkeel wrote it.
pub fn parse(json: &str) -> Result<RunRecord, ParseError> {
    // Editors and shells of other systems may put a byte order mark in front.
    let json = json.trim_start_matches('\u{feff}');
    if json.trim().is_empty() {
        return Err(ParseError::Empty);
    }
    let value: serde_json::Value = serde_json::from_str(json).map_err(|e| {
        if e.is_eof() && json.trim_start().starts_with('{') {
            ParseError::Truncated { bytes: json.len() }
        } else {
            ParseError::NotJson { why: e.to_string() }
        }
    })?;
    let Some(found) = value.get("schema").and_then(|s| s.as_u64()) else {
        return Err(ParseError::NotARecord);
    };
    if found > u64::from(SCHEMA) {
        let version =
            value.get("version").and_then(|v| v.as_str()).unwrap_or("of unknown version").to_string();
        return Err(ParseError::NewerLayout { found, version });
    }
    serde_json::from_value(value).map_err(|e| ParseError::Damaged { why: e.to_string() })
}

/// The facts about a run that are the same for all ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
    /// Version of the evenkeel that writes the record.
    pub version: String,
    /// Command line of rank 0.
    pub program: String,
    /// Name and version of the MPI library.
    pub mpi: String,
    /// Name of the shim that was loaded.
    pub shim: String,
    /// Start of the run, in nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
}

/// Puts the records of all ranks together, in rank order.
pub fn merge(mut ranks: Vec<RankRecord>, facts: RunFacts) -> RunRecord {
    ranks.sort_by_key(|r| r.rank);
    lateness::settle(&mut ranks);
    RunRecord {
        schema: SCHEMA,
        version: facts.version,
        program: facts.program,
        mpi: facts.mpi,
        shim: facts.shim,
        started_unix_ns: facts.started_unix_ns,
        elapsed_ns: ranks.iter().map(|r| r.elapsed_ns).max().unwrap_or(0),
        ranks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json() -> String {
        serde_json::to_string(&merge(vec![RankRecord::default()], RunFacts::default())).unwrap()
    }

    #[test]
    fn a_written_record_is_read_back() {
        assert_eq!(parse(&json()).unwrap().ranks.len(), 1);
        assert_eq!(parse(&format!("\u{feff}{}\n", json())).unwrap().schema, SCHEMA);
    }

    #[test]
    fn every_other_text_is_refused_with_its_cause() {
        assert_eq!(parse("  \n"), Err(ParseError::Empty));
        let whole = json();
        for cut in [1, whole.len() / 2, whole.len() - 1] {
            assert_eq!(parse(&whole[..cut]), Err(ParseError::Truncated { bytes: cut }), "cut at {cut}");
        }
        assert!(matches!(parse("<html>"), Err(ParseError::NotJson { .. })));
        assert!(matches!(parse("{\"schema\": 1,, }"), Err(ParseError::NotJson { .. })));
        assert_eq!(parse("[1, 2]"), Err(ParseError::NotARecord));
        assert_eq!(parse("{\"version\": \"3\"}"), Err(ParseError::NotARecord));
        let newer = parse("{\"schema\": 7, \"version\": \"9.1\"}").unwrap_err();
        assert_eq!(newer, ParseError::NewerLayout { found: 7, version: "9.1".into() });
        assert!(newer.to_string().contains("use a newer evenkeel"), "{newer}");
        let damaged = parse("{\"schema\": 1, \"version\": \"0.1\"}").unwrap_err();
        assert!(damaged.to_string().contains("missing field"), "{damaged}");
    }

    #[test]
    fn merging_sorts_and_takes_the_longest_time() {
        let rank = |rank, elapsed_ns| RankRecord { rank, elapsed_ns, ..Default::default() };
        let run = merge(vec![rank(2, 5), rank(0, 9), rank(1, 7)], RunFacts::default());
        assert_eq!(run.elapsed_ns, 9);
        assert_eq!(run.ranks.iter().map(|r| r.rank).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
