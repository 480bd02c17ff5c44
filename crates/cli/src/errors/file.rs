//! A file cannot be read or written.

use evenkeel_output_file::OutputError;
use std::ffi::OsString;
use std::path::PathBuf;
use thiserror::Error;

/// Why a command cannot use a file that it was given.
#[derive(Debug, Error)]
pub enum FileError {
    /// A file cannot be written.
    #[error(transparent)]
    NotWritable(#[from] OutputError),

    /// The file of `--report` cannot be written.
    #[error("cannot write the report {}: {}", .0.path.display(), .0.obstacle)]
    ReportNotWritable(OutputError),

    /// A file that is read would be replaced.
    #[error("cannot write {} ({name}): this command reads that file. Name another file.", .path.display())]
    OutputIsInput {
        /// The file, as it was named for writing.
        path: PathBuf,
        /// What names it.
        name: &'static str,
    },

    /// Two outputs are one file.
    #[error(
        "cannot write {}: {} and {} name this file. Give each of them a file of its own.",
        .path.display(), .names[0], .names[1]
    )]
    OutputsAreOne {
        /// The file.
        path: PathBuf,
        /// What names it.
        names: [&'static str; 2],
    },

    /// A name that variables cannot carry.
    #[error(
        "cannot use {path:?}: its name, or that of a directory above it, is not UTF-8, which names of files \
         must be that ranks are to open. Name another file."
    )]
    NameNotUtf8 {
        /// The file.
        path: PathBuf,
    },

    /// A trace would not say how the run was started.
    #[error(
        "cannot record a run with the argument {word:?}: a trace keeps the arguments as text, and this one \
         is not UTF-8. Leave it out; if it is the name of a file, give the file another name, or a link."
    )]
    ArgumentNotUtf8 {
        /// The argument.
        word: OsString,
    },

    /// What a command prints cannot be written.
    #[error("cannot write standard output: {0}. Make room, or send the output elsewhere.")]
    StandardOutput(std::io::Error),

    /// A directory cannot be made, or its files cannot be written.
    #[error("cannot write the directory {}: {why}. Name a directory that you may make or write to.",
        .path.display())]
    DirectoryNotWritable {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        why: String,
    },

    /// A file is not the record of a run.
    #[error(
        "cannot read the record {}: {why}. Give a file that `evenkeel run --report FILE` has written.",
        .path.display()
    )]
    RecordNotReadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },

    /// A folder has no trace.
    #[error(
        "cannot read the trace {}: {why}. Give a folder that `evenkeel run --trace DIRECTORY` has written.",
        .path.display()
    )]
    TraceNotReadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },

    /// A folder has no times, or not those of one run.
    #[error(
        "cannot use the times {}: {why}. Give a folder that \
         `evenkeel run --trace DIRECTORY --trace-level times` has written.",
        .path.display()
    )]
    TimesNotUsable {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },

    /// A folder has no arguments of calls, or not those of one run.
    #[error(
        "cannot check the calls in {}: {why}. Give a folder that \
         `evenkeel run --trace DIRECTORY --trace-level checks` has written.",
        .path.display()
    )]
    ChecksNotUsable {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },

    /// The times of a repetition would be written into the trace that is repeated, and destroy it.
    #[error("cannot write times into {}: it is the trace that is repeated. Name another folder.",
        .0.display())]
    TimesIntoTrace(PathBuf),

    /// A time line cannot be written.
    #[error("cannot write the time line {}: {why}. Name a file that you may write, where there is room.",
        .path.display())]
    TimeLineNotWritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },

    /// A record was written by a newer evenkeel.
    #[error(
        "cannot read the record {}: its layout has number {theirs}, and this evenkeel knows up to {ours}. \
         Use an evenkeel as new as the one that wrote it.",
        .path.display()
    )]
    RecordNewer {
        /// The file.
        path: PathBuf,
        /// Number of its layout.
        theirs: u32,
        /// The newest layout that this program knows.
        ours: u32,
    },
}
