//! Getting a run record: out of JSON text, or together from the records of its ranks.

use evenkeel_record::{RankRecord, RunRecord, SCHEMA};
use thiserror::Error;

/// Why a text is not a run record, as a sentence for the person who gave it.
#[derive(Debug, Error, PartialEq)]
pub enum ParseError {
    #[error("the file is empty: the run that should have written it was killed, or is still going on")]
    Empty,
    #[error(
        "the file ends in the middle of the record (after {bytes} bytes): it was cut off while being written or copied"
    )]
    Truncated { bytes: usize },
    #[error("this is not JSON ({why}), so it cannot be a record that `--report` wrote")]
    NotJson { why: String },
    #[error("this is JSON, but not a record that `--report` wrote: it has no \"schema\" number")]
    NotOurs,
    #[error(
        "the record has layout {found} (written by evenkeel {version}), this evenkeel reads up to {SCHEMA}: use a newer evenkeel"
    )]
    Newer { found: u64, version: String },
    #[error("the record is damaged: {why}")]
    Damaged { why: String },
}

/// Reads the JSON that `--report` writes.
pub fn parse(json: &str) -> Result<RunRecord, ParseError> {
    // A byte order mark is what an editor or a shell on another system leaves.
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
        return Err(ParseError::NotOurs);
    };
    if found > u64::from(SCHEMA) {
        let version =
            value.get("version").and_then(|v| v.as_str()).unwrap_or("of unknown version").to_string();
        return Err(ParseError::Newer { found, version });
    }
    serde_json::from_value(value).map_err(|e| ParseError::Damaged { why: e.to_string() })
}

/// What a run record says about the run as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// Version of evenkeel that wrote it.
    pub version: String,
    /// Command line of rank 0.
    pub program: String,
    pub mpi: String,
    pub shim: String,
    pub started_unix_ns: u64,
}

/// Puts the records of all ranks together, in rank order whatever order they come in.
pub fn merge(mut ranks: Vec<RankRecord>, head: Head) -> RunRecord {
    ranks.sort_by_key(|r| r.rank);
    RunRecord {
        schema: SCHEMA,
        version: head.version,
        program: head.program,
        mpi: head.mpi,
        shim: head.shim,
        started_unix_ns: head.started_unix_ns,
        elapsed_ns: ranks.iter().map(|r| r.elapsed_ns).max().unwrap_or(0),
        ranks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json() -> String {
        serde_json::to_string(&merge(vec![RankRecord::default()], Head::default())).unwrap()
    }

    #[test]
    fn what_was_written_is_read() {
        assert_eq!(parse(&json()).unwrap().ranks.len(), 1);
        assert_eq!(parse(&format!("\u{feff}{}\n", json())).unwrap().schema, SCHEMA);
    }

    #[test]
    fn every_other_text_gets_a_sentence() {
        assert_eq!(parse("  \n"), Err(ParseError::Empty));
        let whole = json();
        for cut in [1, whole.len() / 2, whole.len() - 1] {
            assert_eq!(parse(&whole[..cut]), Err(ParseError::Truncated { bytes: cut }), "cut at {cut}");
        }
        assert!(matches!(parse("<html>"), Err(ParseError::NotJson { .. })));
        assert!(matches!(parse("{\"schema\": 1,, }"), Err(ParseError::NotJson { .. })));
        assert_eq!(parse("[1, 2]"), Err(ParseError::NotOurs));
        assert_eq!(parse("{\"version\": \"3\"}"), Err(ParseError::NotOurs));
        let newer = parse("{\"schema\": 7, \"version\": \"9.1\"}").unwrap_err();
        assert_eq!(newer, ParseError::Newer { found: 7, version: "9.1".into() });
        assert!(newer.to_string().contains("use a newer evenkeel"), "{newer}");
        let damaged = parse("{\"schema\": 1, \"version\": \"0.1\"}").unwrap_err();
        assert!(damaged.to_string().contains("missing field"), "{damaged}");
    }

    #[test]
    fn merging_sorts_and_takes_the_longest_time() {
        let rank = |rank, elapsed_ns| RankRecord { rank, elapsed_ns, ..Default::default() };
        let run = merge(vec![rank(2, 5), rank(0, 9), rank(1, 7)], Head::default());
        assert_eq!(run.elapsed_ns, 9);
        assert_eq!(run.ranks.iter().map(|r| r.rank).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
