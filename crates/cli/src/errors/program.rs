//! A program cannot be run, or its MPI cannot be told.

use super::{EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND, EXIT_REFUSED};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a program cannot be started under evenkeel.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// No directory of PATH has it.
    #[error(
        "cannot run `{program}`: no program of this name was found (searched {}). Check the spelling; a \
         program in the current directory is written `./{program}`.",
        list(.searched)
    )]
    NotFound {
        /// The name as typed.
        program: String,
        /// The directories of PATH.
        searched: Vec<PathBuf>,
    },

    /// The path leads nowhere.
    #[error("cannot run {}: there is no such file. Check the path.", .path.display())]
    NoSuchFile {
        /// The path as typed.
        path: PathBuf,
    },

    /// The path is a directory.
    #[error("cannot run {}: it is a directory. Name a program inside it.", .path.display())]
    IsDirectory {
        /// The path as typed.
        path: PathBuf,
    },

    /// The file exists but lacks the permission.
    #[error(
        "cannot run {}: the file exists, but you may not execute it. Run `chmod +x {0}`, or put its \
         interpreter in front of it, for instance `python3 {0}`.",
        .path.display()
    )]
    NotExecutable {
        /// The path as typed.
        path: PathBuf,
    },

    /// An ELF file for another processor.
    #[error(
        "cannot run {}: {why}. evenkeel starts programs for this machine's processor ({processor}). Use a \
         program that was built for it.",
        .path.display()
    )]
    OtherProcessor {
        /// The file that would be executed.
        path: PathBuf,
        /// What the file is for.
        why: String,
        /// This machine's processor.
        processor: String,
    },

    /// Neither ELF nor a script.
    #[error(
        "cannot run {}: it is neither a program nor a script that begins with `#!`. Put its interpreter in \
         front of it, for instance `python3 {0}`.",
        .path.display()
    )]
    NotAProgram {
        /// The file that would be executed.
        path: PathBuf,
    },

    /// The file cannot be read.
    #[error(
        "cannot read {}: {why}. Make the file readable, or name the program's MPI with --mpi.",
        .path.display()
    )]
    NotReadable {
        /// The file.
        path: PathBuf,
        /// What the system or the ELF reader says.
        why: String,
    },

    /// The first line of a script names a program that is not there.
    #[error(
        "cannot run {}: its first line asks for `{interpreter}`, which was not found (searched {}). Install \
         it, or put another interpreter in front of the script.",
        .script.display(), list(.searched)
    )]
    NoInterpreter {
        /// The script.
        script: PathBuf,
        /// What its first line asks for.
        interpreter: String,
        /// Where it was searched.
        searched: Vec<PathBuf>,
    },

    /// Scripts that interpret each other.
    #[error(
        "cannot run {}: its interpreter is a script, and so is the interpreter of that script, without an \
         end. Put an interpreter that is a program in front of it.",
        .path.display()
    )]
    InterpreterLoop {
        /// The first script.
        path: PathBuf,
    },

    /// Nothing can be preloaded.
    #[error(
        "cannot serve {}: it is linked statically{}, so nothing can be preloaded into it. Link it with the \
         shared MPI library, or start it without evenkeel.",
        .path.display(), if *.with_mpi { " and has its MPI inside" } else { "" }
    )]
    Static {
        /// The program.
        path: PathBuf,
        /// Whether it defines MPI functions itself.
        with_mpi: bool,
    },

    /// No MPI among its libraries.
    #[error(
        "cannot tell which MPI {} uses: it is not linked with an MPI library (its libraries: {}). If it \
         starts an MPI program itself, or loads MPI while it runs, name the MPI: --mpi openmpi or --mpi \
         mpich. If it is not an MPI program, start it without evenkeel.",
        .path.display(), names(.libraries)
    )]
    NotLinkedWithMpi {
        /// The program.
        path: PathBuf,
        /// The libraries that it is linked with.
        libraries: Vec<String>,
    },

    /// Its MPI library does not exist here.
    #[error(
        "cannot run {}: {needed_by} needs {soname}, which was not found (searched {}). Install that MPI, or \
         name its directory in LD_LIBRARY_PATH.",
        .path.display(), list(.searched)
    )]
    MpiMissing {
        /// The program.
        path: PathBuf,
        /// The file that asks for the library.
        needed_by: String,
        /// The library's name.
        soname: String,
        /// Where it was searched.
        searched: Vec<PathBuf>,
    },

    /// An MPI without a shim.
    #[error(
        "cannot serve {}: it uses {}, an MPI ({soname}) for which evenkeel has no shim. evenkeel knows Open \
         MPI 4 and 5, MPICH 3 to 5 and its relatives, and the MPI 5 standard ABI. Build the program with one \
         of these, or start it without evenkeel.",
        .path.display(), .library.display()
    )]
    UnknownMpi {
        /// The program.
        path: PathBuf,
        /// Its MPI library.
        library: PathBuf,
        /// The name under which the library is known.
        soname: String,
    },

    /// The interpreter cannot import mpi4py.
    #[error(
        "cannot tell which MPI this Python program uses: {interpreter} has no usable mpi4py ({answer}). \
         Install mpi4py for this interpreter, or name the program's MPI: --mpi openmpi or --mpi mpich."
    )]
    NoMpi4py {
        /// The Python interpreter.
        interpreter: String,
        /// The last line of what it printed.
        answer: String,
    },

    /// `--mpi` contradicts the program.
    #[error(
        "cannot use --mpi {wanted} for {}: the program uses {} ({title}). Leave --mpi out, or rebuild the \
         program with that MPI.",
        .path.display(), .library.display()
    )]
    OtherMpi {
        /// The program.
        path: PathBuf,
        /// What was asked for.
        wanted: &'static str,
        /// The MPI library that the program uses.
        library: PathBuf,
        /// What that library is.
        title: &'static str,
    },

    /// `--mpi` names an MPI that is not installed.
    #[error(
        "cannot find an MPI library for --mpi {wanted} (searched LD_LIBRARY_PATH, the directories beside the \
         launchers on PATH, the linker's cache and its default directories). Install it, or name its \
         directory in LD_LIBRARY_PATH."
    )]
    MpiNotInstalled {
        /// What was asked for.
        wanted: &'static str,
    },

    /// `evenkeel env` without a program and without `--mpi`.
    #[error(
        "cannot tell which MPI is meant: --mpi auto needs the program. Name the program, `evenkeel env \
         ./program`, or the MPI, --mpi openmpi or --mpi mpich."
    )]
    NothingToExamine,
}

impl ProgramError {
    /// The exit code that goes with the sentence.
    pub fn exit_code(&self) -> u8 {
        match self {
            ProgramError::NotFound { .. }
            | ProgramError::NoSuchFile { .. }
            | ProgramError::NoInterpreter { .. } => EXIT_NOT_FOUND,
            ProgramError::IsDirectory { .. }
            | ProgramError::NotExecutable { .. }
            | ProgramError::OtherProcessor { .. }
            | ProgramError::NotAProgram { .. }
            | ProgramError::InterpreterLoop { .. } => EXIT_NOT_EXECUTABLE,
            _ => EXIT_REFUSED,
        }
    }
}

/// Directories for a sentence.
pub(super) fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().map(|p: &PathBuf| Path::display(p).to_string()).collect();
    if shown.is_empty() { "no directory at all".into() } else { shown.join(", ") }
}

/// Names for a sentence.
pub(super) fn names(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
