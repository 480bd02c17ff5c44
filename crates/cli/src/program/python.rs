//! Asks a Python interpreter which MPI its mpi4py will load.
//!
//! Nothing is guessed: the interpreter itself imports what mpi4py would import, without calling MPI_Init, and
//! prints which files were loaded.

use super::search_path::file_name;
use crate::errors::ProgramError;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that the interpreter runs. Finding the module's spec makes the wheels of mpi4py 4.1 and newer
/// load the MPI library by which they choose among their extension modules. Older ones have one module, whose
/// own libraries tell.
const QUESTION: &str = r#"
import importlib.util, sys
try:
    import mpi4py
    spec = importlib.util.find_spec("mpi4py.MPI")
except Exception as error:
    sys.exit("%s: %s" % (type(error).__name__, str(error).splitlines()[0] if str(error) else ""))
if spec is None or not spec.origin:
    sys.exit("mpi4py has no MPI module")
print("module", spec.origin)
for line in open("/proc/self/maps"):
    part = line.split(None, 5)
    if len(part) == 6 and part[5].rstrip("\n").rsplit("/", 1)[-1].startswith(("libmpi", "libmpich")):
        print("library", part[5].rstrip("\n"))
"#;

/// What the interpreter answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// mpi4py's extension module.
    pub module: PathBuf,
    /// MPI libraries that were loaded to choose it; none with an mpi4py that was built for one MPI.
    pub libraries: Vec<PathBuf>,
}

/// Whether a program with this name is a Python interpreter (`python3.11`, `pypy3`).
pub fn is_interpreter(path: &Path) -> bool {
    let name = file_name(path);
    let rest = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    rest.is_some_and(|r| r.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// Asks an interpreter of Python 2.7 or 3. Others answer with an error, which becomes a part of ours.
pub fn ask(interpreter: &Path) -> Result<Answer, ProgramError> {
    let failed =
        |answer: String| ProgramError::NoMpi4py { interpreter: interpreter.display().to_string(), answer };
    let out = Command::new(interpreter)
        .args(["-c", QUESTION])
        .output()
        .map_err(|e| failed(format!("it cannot be started: {e}")))?;
    if !out.status.success() {
        let errors = String::from_utf8_lossy(&out.stderr);
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
        return Err(failed(last.trim().to_string()));
    }
    parse(&String::from_utf8_lossy(&out.stdout))
        .ok_or_else(|| failed("its answer cannot be understood".into()))
}

/// The lines that [`QUESTION`] prints; None if the module is not among them.
pub fn parse(text: &str) -> Option<Answer> {
    let mut module = None;
    let mut libraries: Vec<PathBuf> = Vec::new();
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("module", path)) => module = Some(PathBuf::from(path)),
            Some(("library", path)) if !libraries.iter().any(|l| l == Path::new(path)) => {
                libraries.push(path.into())
            }
            _ => {}
        }
    }
    Some(Answer { module: module?, libraries })
}
