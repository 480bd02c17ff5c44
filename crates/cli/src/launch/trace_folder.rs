//! The folder of a trace: the files of the ranks, and how the run was started.

use crate::errors::FileError;
use crate::output::place::Place;
use evenkeel_trace::checks::file::Checks;
use evenkeel_trace::times::file::Times;
use evenkeel_trace::times::format::Start;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that says how the run was started.
const START: &str = "run.json";

/// A kind of file that each rank has.
struct Kind {
    /// How its names end.
    suffix: &'static str,
    /// What a folder without any lacks.
    content: &'static str,
    /// The same in a word.
    word: &'static str,
}

const TIMES: Kind = Kind { suffix: ".times", content: "times of MPI calls", word: "times" };
const CHECKS: Kind = Kind { suffix: ".checks", content: "arguments of MPI calls", word: "calls" };

/// The files of one kind, with their ranks, in order.
fn rank_files(folder: &Path, suffix: &str) -> Result<Vec<(u32, PathBuf)>, FileError> {
    let unreadable =
        |e: std::io::Error| FileError::TraceNotReadable { path: folder.into(), why: e.to_string() };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let rank = name.strip_prefix("rank-").and_then(|rest| rest.strip_suffix(suffix)?.parse().ok());
        if let Some(rank) = rank {
            files.push((rank, entry.path()));
        }
    }
    files.sort();
    Ok(files)
}

/// The times of all ranks of a run, by rank.
pub fn times(folder: &Path) -> Result<Vec<Times>, FileError> {
    let mut ranks = Vec::new();
    each_times(folder, |times| ranks.push(times))?;
    Ok(ranks)
}

/// The times of all ranks of a run, one after the other: those of a large run need not all be in memory.
pub fn each_times(folder: &Path, mut each: impl FnMut(Times)) -> Result<(), FileError> {
    let unusable = |path: &Path, why: String| FileError::TimesNotUsable { path: path.to_path_buf(), why };
    each_rank(folder, &TIMES, unusable, |bytes| {
        let times = Times::parse(bytes).map_err(|e| e.to_string())?;
        let start = times.start.clone();
        each(times);
        Ok(start)
    })
}

/// Whether there is a file with what a rank has passed to MPI.
pub fn has_checks(folder: &Path) -> bool {
    rank_files(folder, CHECKS.suffix).is_ok_and(|files| !files.is_empty())
}

/// What the ranks of a run have passed to MPI, by rank.
pub fn checks(folder: &Path) -> Result<Vec<Checks>, FileError> {
    let unusable = |path: &Path, why: String| FileError::ChecksNotUsable { path: path.to_path_buf(), why };
    let mut ranks = Vec::new();
    each_rank(folder, &CHECKS, unusable, |bytes| {
        let checks = Checks::parse(bytes).map_err(|e| e.to_string())?;
        let start = checks.start.clone();
        ranks.push(checks);
        Ok(start)
    })?;
    Ok(ranks)
}

/// Reads one file after the other of a kind. `take` is given its bytes, and returns whose they are, or why
/// they are not usable. All ranks of one run must have a file.
fn each_rank(
    folder: &Path,
    kind: &Kind,
    unusable: impl Fn(&Path, String) -> FileError,
    mut take: impl FnMut(&[u8]) -> Result<Start, String>,
) -> Result<(), FileError> {
    let files = rank_files(folder, kind.suffix)?;
    if files.is_empty() {
        return Err(unusable(folder, format!("it has no {}", kind.content)));
    }
    let mut first: Option<Start> = None;
    let mut ranks = 0;
    for (rank, path) in &files {
        let bytes = fs::read(path).map_err(|e| unusable(path, e.to_string()))?;
        let start = take(&bytes).map_err(|why| unusable(path, why))?;
        let first = first.get_or_insert_with(|| start.clone());
        if (start.run, start.ranks) != (first.run, first.ranks) {
            return Err(unusable(path, "it is of another run than that of the first rank".into()));
        }
        if start.rank != *rank || *rank != ranks {
            return Err(unusable(folder, format!("rank {ranks} is missing")));
        }
        ranks += 1;
    }
    match first {
        Some(first) if first.ranks != ranks => {
            Err(unusable(folder, format!("it has {} of {ranks} ranks of {}", kind.word, first.ranks)))
        }
        _ => Ok(()),
    }
}

/// All files of the trace in this folder, as far as it can be read.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_of_trace = |name: &str| name == START || is_rank_file(name);
    entries.filter(|entry| is_of_trace(&entry.file_name().to_string_lossy())).map(|e| e.path()).collect()
}

/// The file of a trace in this folder that says how the run was started.
pub fn start_file(folder: &Path) -> PathBuf {
    folder.join(START)
}

/// How a run was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStart {
    /// The evenkeel that recorded it.
    pub version: String,
    /// The directory in which it was started.
    pub directory: PathBuf,
    /// Words between `evenkeel run` and the program.
    pub options: Vec<String>,
    /// The program and its arguments.
    pub program: Vec<String>,
}

impl RecordedStart {
    /// Of this process, which is an `evenkeel run` of this program with these arguments.
    ///
    /// # Errors
    ///
    /// If one of them is not UTF-8: a repetition would get another one.
    pub fn of_this_process(program: &[OsString]) -> Result<RecordedStart, FileError> {
        let text = |word: OsString| word.into_string().map_err(|word| FileError::ArgumentNotUtf8 { word });
        let words = std::env::args_os().map(text).collect::<Result<Vec<String>, _>>()?;
        let (before, program) = words.split_at(words.len().saturating_sub(program.len()));
        let options = before.get(2..).unwrap_or_default();
        let options = options.strip_suffix(&["--".to_string()]).unwrap_or(options);
        Ok(RecordedStart {
            version: env!("CARGO_PKG_VERSION").into(),
            directory: std::env::current_dir().unwrap_or_default(),
            options: options.to_vec(),
            program: program.to_vec(),
        })
    }
}

/// Refuses to write the times of a repetition into the folder of the trace that is repeated: [`begin`] would
/// remove what the repetition is to read.
pub fn check_apart(repeated: &Path, written: &Path) -> Result<(), FileError> {
    match Place::of(repeated) {
        Some(place) if Place::of(written) == Some(place.clone()) => {
            Err(FileError::TimesIntoTrace(written.into()))
        }
        _ => Ok(()),
    }
}

/// Makes the folder, empties it if it has an older trace, and notes how the run is started.
pub fn begin(folder: &Path, start: &RecordedStart) -> Result<(), FileError> {
    let unwritable =
        |e: std::io::Error| FileError::DirectoryNotWritable { path: folder.into(), why: e.to_string() };
    fs::create_dir_all(folder).map_err(unwritable)?;
    for entry in fs::read_dir(folder).map_err(unwritable)? {
        let entry = entry.map_err(unwritable)?;
        if is_rank_file(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path()).map_err(unwritable)?;
        }
    }
    let text = serde_json::to_string_pretty(start).map_err(|e| unwritable(e.into()))?;
    fs::write(folder.join(START), text + "\n").map_err(unwritable)
}

fn is_rank_file(name: &str) -> bool {
    let end = name.strip_prefix("rank-");
    let rank = end.and_then(|end| {
        [".trace", TIMES.suffix, CHECKS.suffix].iter().find_map(|suffix| end.strip_suffix(suffix))
    });
    rank.is_some_and(|rank| !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads how a run was started.
pub fn read(folder: &Path) -> Result<RecordedStart, FileError> {
    let path = folder.join(START);
    let unreadable = |why: String| FileError::TraceNotReadable { path: path.clone(), why };
    let text = fs::read_to_string(&path).map_err(|e| unreadable(e.to_string()))?;
    serde_json::from_str(&text).map_err(|e| unreadable(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_not_overwritten_by_its_repetition() {
        let folder = tempfile::tempdir().unwrap();
        let [trace, link] = ["tr", "link"].map(|name| folder.path().join(name));
        std::fs::create_dir(&trace).unwrap();
        std::os::unix::fs::symlink(&trace, &link).unwrap();
        for written in [&trace, &link, &trace.join("."), &link.join("../tr")] {
            let said = check_apart(&trace, written).unwrap_err().to_string();
            assert!(said.ends_with("it is the trace that is repeated. Name another folder."), "{said}");
        }
        check_apart(&trace, &folder.path().join("u")).unwrap();
    }

    #[test]
    fn only_files_of_ranks_are_removed() {
        assert!(is_rank_file("rank-0.trace") && is_rank_file("rank-117.trace"));
        assert!(is_rank_file("rank-3.times") && is_rank_file("rank-3.checks"));
        assert!(!is_rank_file("rank-.trace") && !is_rank_file("rank-1.txt") && !is_rank_file("run.json"));
    }
}
