//! What a program is and which MPI it will get: an ELF file, a script with its interpreter, a Python program.

use crate::errors::Failure;
use crate::program::elf::{self, Elf, Unreadable};
use crate::program::loader::{Resolved, Search};
use crate::program::mpi::{self, Library};
use crate::program::python;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program that was looked at.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file that the user named.
    pub path: PathBuf,
    /// What is executed in the end: the file itself or its interpreter.
    pub executable: PathBuf,
    /// How it was found out, for `doctor`: one step per line.
    pub steps: Vec<String>,
    /// The executable's libraries (for Python: those of mpi4py's module).
    pub resolved: Resolved,
    pub kind: Kind,
    pub mpi: Result<Library, NoMpi>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Linked,
    Python,
    Static,
}

/// Why there is no MPI library to go by.
#[derive(Clone, Debug, PartialEq)]
pub enum NoMpi {
    NotLinked,
    Static { with_mpi: bool },
    Missing { needed_by: PathBuf, soname: String, looked: Vec<PathBuf> },
    Unknown { library: PathBuf, soname: String },
    Python { interpreter: PathBuf, said: String },
}

impl Program {
    /// The failure that the absence of an MPI library amounts to.
    pub fn failure(&self, why: &NoMpi) -> Failure {
        let path = self.path.clone();
        match why.clone() {
            NoMpi::NotLinked => Failure::NoMpi {
                path,
                libraries: self.resolved.loaded.iter().skip(1).map(|l| l.name.clone()).collect(),
            },
            NoMpi::Static { with_mpi } => Failure::Static { path, with_mpi },
            NoMpi::Missing { needed_by, soname, looked } => {
                Failure::MpiMissing { path, needed_by: needed_by.display().to_string(), soname, looked }
            }
            NoMpi::Unknown { library, soname } => Failure::UnknownMpi { path, library, soname },
            NoMpi::Python { interpreter, said } => {
                Failure::NoMpi4py { interpreter: interpreter.display().to_string(), said }
            }
        }
    }
}

/// The directories of PATH.
pub fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default()
}

/// Finds a program as execvp does: by its path if there is a slash in it, else along PATH.
pub fn find(name: &str, path: &[PathBuf]) -> Result<PathBuf, Failure> {
    if name.contains('/') {
        let file = PathBuf::from(name);
        return match file.metadata() {
            Err(_) => Err(Failure::NoSuchFile { path: file }),
            Ok(m) if m.is_dir() => Err(Failure::IsDirectory { path: file }),
            Ok(_) if !is_executable(&file) => Err(Failure::NotExecutable { path: file }),
            Ok(_) => Ok(file),
        };
    }
    path.iter()
        .map(|d| d.join(name))
        .find(|f| f.is_file() && is_executable(f))
        .ok_or_else(|| Failure::NotFound { program: name.into(), looked: path.to_vec() })
}

/// Looks at a program: what it is, what it is linked with, which MPI that is.
pub fn examine(path: &Path, search: &Search, on_path: &[PathBuf]) -> Result<Program, Failure> {
    let mut steps = Vec::new();
    let mut executable = path.to_path_buf();
    for _ in 0..8 {
        if python::is_interpreter(&executable) {
            return examine_python(path, executable, steps, search);
        }
        match Elf::read(&executable) {
            Ok(elf) => return Ok(examine_elf(path, executable, elf, steps, search)?),
            Err(Unreadable::NotElf) => {
                let (interpreter, line) = interpreter_of(&executable, on_path)?;
                steps.push(format!("{} is a script; its first line is `{line}`", executable.display()));
                executable = interpreter;
            }
            Err(Unreadable::OtherFormat(why)) => {
                return Err(Failure::OtherMachine { path: executable, why: format!("it is {why}") });
            }
            Err(Unreadable::Io(why)) => return Err(Failure::Unreadable { path: executable, why }),
            Err(Unreadable::Damaged(why)) => {
                return Err(Failure::Unreadable { path: executable, why: format!("it is damaged ({why})") });
            }
        }
    }
    Err(Failure::ScriptLoop { path: path.to_path_buf() })
}

fn examine_elf(
    path: &Path,
    executable: PathBuf,
    elf: Elf,
    mut steps: Vec<String>,
    search: &Search,
) -> Result<Program, Failure> {
    if elf.machine != elf::own_machine() {
        let why = format!("it was built for another processor ({})", elf::machine_name(elf.machine));
        return Err(Failure::OtherMachine { path: executable, why });
    }
    if !elf.takes_preload() {
        steps.push(format!("{} is linked statically", executable.display()));
        let with_mpi = elf::defines(&executable, &["MPI_Init", "PMPI_Init", "mpi_init_"]);
        let resolved = Resolved::default();
        let mpi = Err(NoMpi::Static { with_mpi });
        return Ok(Program { path: path.into(), executable, steps, resolved, kind: Kind::Static, mpi });
    }
    steps.push(format!(
        "{} is a program for {}, linked dynamically",
        executable.display(),
        elf::machine_name(elf.machine)
    ));
    let resolved = search.resolve(elf);
    let mpi = mpi_of(&resolved);
    Ok(Program { path: path.into(), executable, steps, resolved, kind: Kind::Linked, mpi })
}

fn examine_python(
    path: &Path,
    executable: PathBuf,
    mut steps: Vec<String>,
    search: &Search,
) -> Result<Program, Failure> {
    steps.push(format!("{} is a Python interpreter", executable.display()));
    let done = |steps, resolved, mpi| Program {
        path: path.into(),
        executable: executable.clone(),
        steps,
        resolved,
        kind: Kind::Python,
        mpi,
    };
    let answer = match python::ask(&executable) {
        Ok(answer) => answer,
        Err(Failure::NoMpi4py { said, .. }) => {
            let mpi = Err(NoMpi::Python { interpreter: executable.clone(), said });
            return Ok(done(steps, Resolved::default(), mpi));
        }
        Err(other) => return Err(other),
    };
    steps.push(format!("its mpi4py is {}", answer.module.display()));
    let module = Elf::read(&answer.module)
        .map_err(|e| Failure::Unreadable { path: answer.module.clone(), why: format!("{e:?}") })?;
    let resolved = search.resolve(module);
    // What the interpreter really loaded counts more than what the module would find by itself.
    let loaded = answer.libraries.iter().find_map(|f| {
        let elf = Elf::read(f).ok()?;
        let soname = elf.soname.clone()?;
        mpi::SONAMES.contains(&soname.as_str()).then(|| mpi::identify(&elf).ok_or((f.clone(), soname)))
    });
    let mpi = match loaded {
        Some(Ok(library)) => {
            steps.push(format!("which loads {}", library.path.display()));
            Ok(library)
        }
        Some(Err((library, soname))) => Err(NoMpi::Unknown { library, soname }),
        None => mpi_of(&resolved),
    };
    Ok(done(steps, resolved, mpi))
}

fn mpi_of(resolved: &Resolved) -> Result<Library, NoMpi> {
    match mpi::among(resolved) {
        Some(Ok(library)) => Ok(library),
        Some(Err((library, soname))) => Err(NoMpi::Unknown { library, soname }),
        None => match resolved.missing.iter().find(|m| is_mpi_name(&m.name)) {
            Some(m) => Err(NoMpi::Missing {
                needed_by: m.needed_by.clone(),
                soname: m.name.clone(),
                looked: m.looked.clone(),
            }),
            None => Err(NoMpi::NotLinked),
        },
    }
}

/// libmpi.so.40, libmpich.so.12, libmpi_mpifh.so.40, libmpichfort.so.12, libmpi_abi.so.1, …
pub fn is_mpi_name(name: &str) -> bool {
    ["libmpi.", "libmpi_", "libmpich", "libmpifort", "libmpicxx"].iter().any(|start| name.starts_with(start))
}

fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
        && path.metadata().is_ok_and(|m| m.permissions().mode() & 0o111 != 0)
}

/// The interpreter that a script's first line asks for, through `env` if that is how it asks.
fn interpreter_of(script: &Path, on_path: &[PathBuf]) -> Result<(PathBuf, String), Failure> {
    let mut start = Vec::new();
    std::fs::File::open(script)
        .and_then(|f| f.take(512).read_to_end(&mut start))
        .map_err(|e| Failure::Unreadable { path: script.into(), why: e.to_string() })?;
    let text = String::from_utf8_lossy(&start);
    let line = text.lines().next().unwrap_or_default().trim_end().to_string();
    let wanted = shebang(&line).ok_or_else(|| Failure::NotAProgram { path: script.into() })?;
    let missing = |looked: Vec<PathBuf>| Failure::NoInterpreter {
        script: script.into(),
        interpreter: wanted.clone(),
        looked,
    };
    if wanted.contains('/') {
        let file = PathBuf::from(&wanted);
        let directory = file.parent().map(Path::to_path_buf).unwrap_or_default();
        return if is_executable(&file) { Ok((file, line)) } else { Err(missing(vec![directory])) };
    }
    match find(&wanted, on_path) {
        Ok(file) => Ok((file, line)),
        Err(_) => Err(missing(on_path.to_vec())),
    }
}

/// The program that a `#!` line starts: `#!/usr/bin/env -S FOO=1 python3 -u` starts `python3`.
pub fn shebang(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let first = words.next()?;
    if mpi::file_name(Path::new(first)) != "env" {
        return Some(first.to_string());
    }
    let mut skip_value = false;
    for word in words {
        if std::mem::take(&mut skip_value) || word.contains('=') {
            continue;
        }
        match word {
            "-u" | "-C" => skip_value = true,
            option if option.starts_with("-S") && option.len() > 2 => return Some(option[2..].to_string()),
            option if option.starts_with('-') => {}
            program => return Some(program.to_string()),
        }
    }
    None
}
