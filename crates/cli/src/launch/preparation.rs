//! Everything about a run that is known before its launcher starts: MPI library, shim, environment.

use super::environment;
use super::shim;
use crate::errors::{CommandError, FileError, ProgramError};
use crate::program::examination::{self, Program, ProgramKind};
use crate::program::loader::Search;
use crate::program::mpi::{self, Library, MpiChoice};
use std::path::{Path, PathBuf};
use tracing::{debug, info};

/// What a run consists of beside its launcher.
#[derive(Clone, Debug)]
pub struct Preparation {
    /// The MPI library of the program.
    pub library: Library,
    /// Variables for the ranks.
    pub variables: Vec<(String, String)>,
    /// See [`Shims::one_session`](shim::Shims::one_session).
    pub one_session: Option<PathBuf>,
    /// A sentence for the user: the program runs, but evenkeel does nothing for it.
    pub warning: Option<String>,
}

/// Prepares a run of `program`, or of any program of the MPI that `choice` names.
///
/// `given` are the options of the command line, as variables and values.
pub fn prepare(
    program: Option<&Path>,
    choice: MpiChoice,
    given: &[(String, String)],
    search: &Search,
    on_path: &[PathBuf],
) -> Result<Preparation, CommandError> {
    let program = program.map(|file| examination::examine(file, search, on_path)).transpose()?;
    for step in program.iter().flat_map(|program| &program.steps) {
        debug!("{step}");
    }
    let (library, warning) = library(program.as_ref(), choice, search, on_path)?;
    info!(path = %library.path.display(), abi = library.abi.title(), "this MPI library is served");
    let shims = shim::installed()?;
    let shim = shims.for_library(&library)?;
    if shim.path.to_str().is_none() {
        return Err(FileError::NameNotUtf8 { path: shim.path.clone() }.into());
    }
    info!(path = %shim.path.display(), "this shim is preloaded");
    let chosen = environment::chosen(given, |name| std::env::var(name).ok());
    let variables = environment::variables(&shim.path, &environment::preloaded(), &chosen);
    for (name, value) in &variables {
        debug!("the ranks get {name}={value}");
    }
    Ok(Preparation { library, variables, one_session: shims.one_session(), warning })
}

/// The MPI library to serve, from what the program tells and what the user says, and a warning.
fn library(
    program: Option<&Program>,
    choice: MpiChoice,
    search: &Search,
    on_path: &[PathBuf],
) -> Result<(Library, Option<String>), ProgramError> {
    let installed = || {
        let first = mpi::installed(choice, search, on_path).into_iter().next();
        first.ok_or(ProgramError::MpiNotInstalled { wanted: choice.name() })
    };
    let Some(program) = program else {
        return match choice {
            MpiChoice::Auto => Err(ProgramError::NothingToExamine),
            _ => Ok((installed()?, None)),
        };
    };
    match &program.mpi {
        Ok(library) if choice.accepts(library.abi) => Ok((library.clone(), None)),
        Ok(library) => Err(ProgramError::OtherMpi {
            path: program.path.clone(),
            wanted: choice.name(),
            library: library.path.clone(),
            title: library.abi.title(),
        }),
        Err(why) if choice == MpiChoice::Auto => Err(program.error(why)),
        Err(_) => {
            let warning = (program.kind == ProgramKind::Static).then(|| {
                format!(
                    "{} is linked statically: nothing can be preloaded into it, so it runs as it would \
                     without evenkeel. Link it with the shared MPI library to change that.",
                    program.path.display()
                )
            });
            Ok((installed()?, warning))
        }
    }
}
