//! Examines a program: what it is (an ELF file, a script, a Python program) and which MPI it will get.

use super::elf::{self, Elf, ElfError};
use super::loader::{Missing, Resolved, Search};
use super::mpi::{self, Library, UnknownMpi};
use super::python;
use super::script::interpreter_of;
use crate::errors::ProgramError;
use std::path::{Path, PathBuf};

/// Scripts whose interpreters are scripts again are followed so far.
const MOST_INTERPRETERS: usize = 8;

/// A program that was examined.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file that the user named.
    pub path: PathBuf,
    /// What is executed in the end: the file itself or its interpreter.
    pub executable: PathBuf,
    /// How it was found out, one sentence per step, for `evenkeel doctor`.
    pub steps: Vec<String>,
    /// The executable with its libraries; for Python mpi4py's module with its libraries.
    pub resolved: Resolved,
    /// What the executable is.
    pub kind: ProgramKind,
    /// The MPI library that it will get, or why none can be told.
    pub mpi: Result<Library, NoMpiError>,
}

/// What an executable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// Linked dynamically.
    Dynamic,
    /// A Python interpreter.
    Python,
    /// Linked statically.
    Static,
}

/// Why the MPI library of a program cannot be told.
#[derive(Clone, Debug, PartialEq)]
pub enum NoMpiError {
    /// None of its libraries is an MPI.
    NotLinked,
    /// It is linked statically, perhaps with an MPI inside.
    Static {
        /// Whether it defines MPI functions.
        with_mpi: bool,
    },
    /// Its MPI library does not exist on this machine.
    Missing(Missing),
    /// It uses an MPI that no shim fits.
    Unknown(UnknownMpi),
    /// Its Python interpreter has no usable mpi4py.
    Python {
        /// The interpreter.
        interpreter: PathBuf,
        /// What it answered.
        answer: String,
    },
}

impl Program {
    /// The error for a command that needs the MPI library.
    pub fn error(&self, why: &NoMpiError) -> ProgramError {
        let path = self.path.clone();
        match why.clone() {
            NoMpiError::NotLinked => ProgramError::NotLinkedWithMpi {
                path,
                libraries: self.resolved.loaded.iter().skip(1).map(|library| library.name.clone()).collect(),
            },
            NoMpiError::Static { with_mpi } => ProgramError::Static { path, with_mpi },
            NoMpiError::Missing(Missing { name, needed_by, searched }) => ProgramError::MpiMissing {
                path,
                needed_by: needed_by.display().to_string(),
                soname: name,
                searched,
            },
            NoMpiError::Unknown(UnknownMpi { library, soname }) => {
                ProgramError::UnknownMpi { path, library, soname }
            }
            NoMpiError::Python { interpreter, answer } => {
                ProgramError::NoMpi4py { interpreter: interpreter.display().to_string(), answer }
            }
        }
    }
}

/// Examines a program: what it is, what it is linked with, which MPI that is.
///
/// The error says that it could not be executed or read at all. Whether its MPI could be told is a part of
/// the result.
pub fn examine(path: &Path, search: &Search, on_path: &[PathBuf]) -> Result<Program, ProgramError> {
    let mut steps = Vec::new();
    let mut executable = path.to_path_buf();
    for _ in 0..MOST_INTERPRETERS {
        if python::is_interpreter(&executable) {
            return examine_python(path, executable, steps, search);
        }
        match Elf::read(&executable) {
            Ok(elf) => return examine_elf(path, executable, elf, steps, search),
            Err(ElfError::NotElf) => {
                let interpreter = interpreter_of(&executable, on_path)?;
                let line = interpreter.line;
                steps.push(format!("{} is a script; its first line is `{line}`", executable.display()));
                executable = interpreter.program;
            }
            Err(error @ ElfError::OtherFormat(_)) => {
                return Err(other_processor(executable, error.to_string()));
            }
            Err(error) => return Err(ProgramError::NotReadable { path: executable, why: error.to_string() }),
        }
    }
    Err(ProgramError::InterpreterLoop { path: path.to_path_buf() })
}

fn other_processor(path: PathBuf, why: String) -> ProgramError {
    ProgramError::OtherProcessor { path, why, processor: elf::machine_name(elf::own_machine()) }
}

fn examine_elf(
    path: &Path,
    executable: PathBuf,
    elf: Elf,
    mut steps: Vec<String>,
    search: &Search,
) -> Result<Program, ProgramError> {
    let machine = elf::machine_name(elf.machine);
    if !elf.fits_this_machine() {
        return Err(other_processor(executable, format!("it was built for another processor ({machine})")));
    }
    if !elf.takes_preload() {
        steps.push(format!("{} is linked statically", executable.display()));
        let with_mpi = elf::defines(&executable, &["MPI_Init", "PMPI_Init", "mpi_init_"]);
        return Ok(Program {
            path: path.into(),
            executable,
            steps,
            resolved: Resolved::default(),
            kind: ProgramKind::Static,
            mpi: Err(NoMpiError::Static { with_mpi }),
        });
    }
    steps.push(format!("{} is a program for {machine}, linked dynamically", executable.display()));
    let resolved = search.resolve(elf);
    let mpi = mpi_of(&resolved);
    Ok(Program { path: path.into(), executable, steps, resolved, kind: ProgramKind::Dynamic, mpi })
}

fn examine_python(
    path: &Path,
    executable: PathBuf,
    mut steps: Vec<String>,
    search: &Search,
) -> Result<Program, ProgramError> {
    steps.push(format!("{} is a Python interpreter", executable.display()));
    let examined = |steps, resolved, mpi| Program {
        path: path.into(),
        executable: executable.clone(),
        steps,
        resolved,
        kind: ProgramKind::Python,
        mpi,
    };
    let answer = match python::ask(&executable) {
        Ok(answer) => answer,
        Err(ProgramError::NoMpi4py { answer, .. }) => {
            let mpi = Err(NoMpiError::Python { interpreter: executable.clone(), answer });
            return Ok(examined(steps, Resolved::default(), mpi));
        }
        Err(other) => return Err(other),
    };
    steps.push(format!("its mpi4py is {}", answer.module.display()));
    let module = Elf::read(&answer.module)
        .map_err(|e| ProgramError::NotReadable { path: answer.module.clone(), why: e.to_string() })?;
    let resolved = search.resolve(module);
    // What the interpreter loaded counts more than what the module would find by itself.
    let loaded = answer.libraries.iter().find_map(|library| mpi::recognise(library));
    let mpi = match loaded {
        Some(Ok(library)) => {
            steps.push(format!("which loads {}", library.path.display()));
            Ok(library)
        }
        Some(Err(unknown)) => Err(NoMpiError::Unknown(unknown)),
        None => mpi_of(&resolved),
    };
    Ok(examined(steps, resolved, mpi))
}

fn mpi_of(resolved: &Resolved) -> Result<Library, NoMpiError> {
    match mpi::among(resolved) {
        Some(Ok(library)) => Ok(library),
        Some(Err(unknown)) => Err(NoMpiError::Unknown(unknown)),
        None => match resolved.missing.iter().find(|missing| mpi::is_mpi_name(&missing.name)) {
            Some(missing) => Err(NoMpiError::Missing(missing.clone())),
            None => Err(NoMpiError::NotLinked),
        },
    }
}
