//! Carries out `evenkeel doctor`.

use super::arguments::DoctorArguments;
use super::kernel::{self, Trial};
use super::{machine_text, program_text, sharing_text};
use crate::errors::CommandError;
use crate::launch::shim;
use crate::machine::{control_groups, cores, process_limit};
use crate::output::outcome::Outcome;
use crate::program::examination;
use crate::program::loader::Search;
use crate::program::mpi::{self, MpiChoice};
use crate::program::search_path;
use evenkeel_barrier_table::location;
use std::path::{Path, PathBuf};

/// Examines the machine and, if one is named, a program.
pub fn doctor(arguments: &DoctorArguments) -> Result<Outcome, CommandError> {
    let on_path = search_path::directories();
    let search = Search::of_this_machine();
    let shims = shim::installed();
    let libraries = mpi::installed(MpiChoice::Auto, &search, &on_path);
    let usable = cores::usable();
    let quota = control_groups::own_cpu_quota();
    let at_once = cores::at_once(usable.len(), quota.as_ref());
    let executable = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("evenkeel"));

    let mut text = format!("evenkeel {}\n\n", env!("CARGO_PKG_VERSION"));
    text += &machine_text::shims(&shims);
    text += &machine_text::agent(&shims, &search.all_named("libucp.so.0"));
    text += &machine_text::libraries(&libraries, &shims, &search, &on_path);
    text += &machine_text::cores(&usable, cores::physical(&usable), quota.as_ref(), process_limit::own());
    text += &machine_text::barrier_table(location::active_table(), at_once);
    let trials = kernel::trials(&executable);
    text += &machine_text::trials(&trials);
    text += &sharing_text::sharing();

    let mut obstacles: Vec<String> = Vec::new();
    if trials.iter().any(Trial::leaves_evenkeel_unusable) {
        obstacles.push("the kernel lacks a feature that evenkeel requires (see above)".into());
    }
    match &arguments.program {
        None => {
            let fits =
                |library: &mpi::Library| shims.as_ref().is_ok_and(|shims| shims.for_library(library).is_ok());
            if !libraries.iter().any(fits) {
                obstacles.push("no shim here fits an MPI library of this machine".into());
            }
        }
        Some(name) => {
            let file = search_path::find(name, &on_path)?;
            let program = examination::examine(&file, &search, &on_path)?;
            let found = program_text::program(&program, &shims, &on_path);
            text += &found.text;
            obstacles.extend(found.obstacle);
        }
    }
    text += &conclusion(arguments.program.as_deref().map(Path::new), &obstacles);
    Ok(Outcome::of_examination(text, obstacles.is_empty()))
}

/// The last sentence: whether evenkeel can be used, and why not.
fn conclusion(program: Option<&Path>, obstacles: &[String]) -> String {
    let (can, cannot) = match program {
        None => ("evenkeel can be used here".into(), "evenkeel cannot be used here".into()),
        Some(name) => {
            let name = name.display();
            (format!("evenkeel can run {name}"), format!("evenkeel cannot run {name}"))
        }
    };
    if obstacles.is_empty() {
        format!("\n{can}.\n")
    } else {
        format!("\n{cannot}: {}.\n", obstacles.join("; "))
    }
}
