//! What `evenkeel doctor` says about a program.

use super::machine_text::{launcher_of, shim_for};
use crate::errors::LaunchError;
use crate::launch::shim::Shims;
use crate::program::bindings::{self, Bindings};
use crate::program::examination::{Program, ProgramKind};
use crate::program::search_path::file_name;
use std::path::{Path, PathBuf};

/// What was found out about a program.
pub struct ProgramText {
    /// For people.
    pub text: String,
    /// Why evenkeel cannot run it, if it cannot.
    pub obstacle: Option<String>,
}

/// How the program was examined, its MPI, and which of its calls are covered.
pub fn program(program: &Program, shims: &Result<Shims, LaunchError>, on_path: &[PathBuf]) -> ProgramText {
    let mut text = format!("\nProgram {}\n", program.path.display());
    for step in &program.steps {
        text += &format!("  {step}\n");
    }
    let library = match &program.mpi {
        Ok(library) => library,
        Err(why) => {
            text += &format!("  evenkeel {}\n", program.error(why));
            return ProgramText { text, obstacle: Some("its MPI cannot be served".into()) };
        }
    };
    text += &format!(
        "  MPI: {} ({}); {}; {}\n",
        library.path.display(),
        library.abi.title(),
        shim_for(library, shims),
        launcher_of(library, on_path)
    );
    let found = bindings::of(&program.resolved, program.kind == ProgramKind::Python);
    text += &bindings_text(&found, &program.path);
    let obstacle = match shims {
        Ok(shims) => shims.for_library(library).err().map(|_| "no shim fits its MPI"),
        Err(_) => Some("there are no shims"),
    };
    let nothing_is_covered = !found.used.is_empty() && found.used.iter().all(|binding| !binding.covered);
    let obstacle = obstacle.or(nothing_is_covered.then_some("none of the bindings it uses is covered"));
    ProgramText { text, obstacle: obstacle.map(String::from) }
}

fn bindings_text(found: &Bindings, program: &Path) -> String {
    let mut text = String::new();
    if found.used.is_empty() {
        text += "  bindings: none of its files calls MPI directly; what it loads while it runs cannot be \
                 known now\n";
    }
    for binding in &found.used {
        let file = match binding.used_by == program {
            true => String::new(),
            false => format!(" in {}", file_name(&binding.used_by)),
        };
        let verdict = if binding.covered { "covered" } else { "not covered" };
        text += &format!("  {}{file}: {verdict}: {}\n", binding.name, binding.because);
    }
    if found.used.iter().any(|binding| binding.name.starts_with("Python")) {
        // mpi4py wraps every function; which of them the script calls shows only when it runs.
        return text + "  the MPI library serves mpi4py's persistent and neighbourhood collectives\n";
    }
    let (ours, theirs): (Vec<&str>, Vec<&str>) =
        found.collectives.iter().map(String::as_str).partition(|operation| bindings::is_served(operation));
    if !ours.is_empty() {
        text += &format!("  collectives it may call that evenkeel carries out: {}\n", ours.join(", "));
    }
    if !theirs.is_empty() {
        text += &format!("  collectives it may call that the MPI library serves: {}\n", theirs.join(", "));
    }
    text
}
