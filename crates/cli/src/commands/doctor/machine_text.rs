//! What `evenkeel doctor` says about the machine.

use super::kernel::Trial;
use crate::errors::LaunchError;
use crate::launch::launcher;
use crate::launch::shim::Shims;
use crate::machine::control_groups::Quota;
use crate::machine::{core_list, cores as core_rules};
use crate::program::loader::Search;
use crate::program::mpi::{Abi, Library};
use evenkeel_barrier_table::TableError;
use evenkeel_barrier_table::location::ActiveTable;
use std::path::PathBuf;

/// The shims that are installed, and those that are not.
pub fn shims(shims: &Result<Shims, LaunchError>) -> String {
    let shims = match shims {
        Err(error) => return format!("Shims\n  {error}\n\n"),
        Ok(shims) => shims,
    };
    let mut text = format!("Shims in {}\n", shims.directory.display());
    for shim in &shims.all {
        let description = &shim.description;
        let built = if description.mpi.is_empty() { "an unknown MPI" } else { description.mpi.as_str() };
        text += &format!("  {:<9} built against {built}\n", description.name);
    }
    for abi in Abi::ALL.iter().filter(|abi| shims.named(abi.shim()).is_none()) {
        text += &format!(
            "  {:<9} not built: the headers of {} were not found when evenkeel was built\n",
            abi.shim(),
            abi.title()
        );
    }
    text + "\n"
}

/// What `--nodes agents` needs besides the shims. Without it the host library serves communicators that span
/// nodes.
pub fn agent(shims: &Result<Shims, LaunchError>, ucx: &[PathBuf]) -> String {
    let Ok(shims) = shims else { return String::new() };
    let program = shims.directory.join("evenkeel-agent");
    let agent = match program.exists() {
        true => "evenkeel-agent is installed".to_string(),
        false => format!("{} is missing; install it beside the shims", program.display()),
    };
    let fabric = match ucx.first() {
        Some(path) => path.display().to_string(),
        None => {
            "libucp.so.0 is missing; only hardware for RDMA needs it (UCX 1.11 or later, Debian's package \
                 libucx0)"
                .to_string()
        }
    };
    format!("Several machines, --nodes agents\n  agent     {agent}\n  UCX       {fabric}\n\n")
}

/// The MPI libraries of this machine.
pub fn libraries(
    libraries: &[Library],
    shims: &Result<Shims, LaunchError>,
    search: &Search,
    on_path: &[PathBuf],
) -> String {
    let mut text = String::from("MPI libraries that programs find here by themselves\n");
    if libraries.is_empty() {
        text += "  none (searched LD_LIBRARY_PATH, the directories beside the launchers on PATH, the \
                 linker's cache)\n";
    }
    for library in libraries {
        text += &format!(
            "  {}\n    is {}; {}; {}\n    --launcher evenkeel: {}\n",
            library.path.display(),
            library.abi.title(),
            shim_for(library, shims),
            launcher_of(library, on_path),
            own_launcher_for(library, search)
        );
    }
    text + "\n"
}

/// Which shim fits a library.
pub fn shim_for(library: &Library, shims: &Result<Shims, LaunchError>) -> String {
    match shims.as_ref().map(|shims| shims.for_library(library)) {
        Ok(Ok(shim)) => format!("shim {} fits", shim.description.name),
        Ok(Err(error)) => format!("evenkeel {error}"),
        Err(_) => "there are no shims".into(),
    }
}

/// Which launcher belongs to a library.
pub fn launcher_of(library: &Library, on_path: &[PathBuf]) -> String {
    match launcher::of_library(library, on_path) {
        Ok(launcher) => format!("its launcher is {}", launcher.path.display()),
        Err(_) => "its launcher is missing: use --launcher".into(),
    }
}

/// Whether evenkeel can start ranks of a library itself, and why not.
fn own_launcher_for(library: &Library, search: &Search) -> String {
    match launcher::own_pmix(library, search) {
        Ok(None) => "starts its ranks, by PMI-1".into(),
        Ok(Some(pmix)) => format!("starts its ranks, by PMIx with {}", pmix.display()),
        Err(_) => "cannot start its ranks: there is no libpmix.so.2 (on Debian: apt install libpmix2)".into(),
    }
}

/// Cores, quota and the limit on processes.
pub fn cores(
    usable: &[usize],
    physical: usize,
    quota: Option<&Quota>,
    process_limit: Option<(u64, String)>,
) -> String {
    let list = core_list::show(usable);
    let mut text = format!("Cores\n  usable under affinity and cpuset: {} ({list})\n", usable.len());
    if physical < usable.len() {
        text += &format!("  these are the hardware threads of {physical} cores\n");
    }
    text += &match quota {
        None => "  CPU quota: none\n".to_string(),
        Some(quota) => format!("  CPU quota: {:.2} cores ({})\n", quota.cores, quota.from.display()),
    };
    text += &format!(
        "  up to {} ranks have a core each and may spin; with more ranks, a rank that waits yields its \
         core\n",
        core_rules::at_once(usable.len(), quota)
    );
    if let Some((most, from)) = process_limit {
        text += &format!("  at most {most} processes ({from})\n");
    }
    text + "\n"
}

/// The table of schedules for barriers that is in use.
pub fn barrier_table(active: Result<Option<ActiveTable>, TableError>, cores: usize) -> String {
    let mut text = String::from("Table of schedules for barriers\n");
    match active {
        Err(error) => text += &format!("  {error}\n"),
        Ok(None) => text += "  none: barriers are the built-in ones (evenkeel tune makes a table)\n",
        Ok(Some(active)) => {
            text += &format!("  {}, made for this machine\n", active.path.display());
            let entries = active.table.entries.iter().filter(|entry| entry.cores as usize == cores);
            let lines: Vec<String> = entries
                .map(|entry| {
                    let barrier = entry.schedule.as_deref().unwrap_or("the built-in barrier");
                    format!("  {} ranks on {cores} cores: {barrier}\n", entry.ranks)
                })
                .collect();
            if lines.is_empty() {
                text += &format!("  it has no entry for {cores} cores: barriers are the built-in ones\n");
            }
            text += &lines.concat();
        }
    }
    text + "\n"
}

/// What the kernel can do.
pub fn trials(trials: &[Trial]) -> String {
    let mut text = String::from("Kernel, each feature tried just now\n");
    for trial in trials {
        text += &match &trial.result {
            Ok(()) => format!("  {:<33} works: {}\n", trial.name, trial.used_for),
            Err(why) => format!(
                "  {:<33} does not work ({why}): {} needs it; without it, {}\n",
                trial.name, trial.used_for, trial.without
            ),
        };
    }
    text
}
