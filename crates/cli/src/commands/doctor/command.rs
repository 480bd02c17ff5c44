//! `evenkeel doctor`: says in plain words what evenkeel finds here and what it will do.

use super::kernel::{self, Trial};
use crate::errors::Failure;
use crate::launch::launcher;
use crate::launch::shim::{self, Shims};
use crate::machine::limits::{self as quota, Quota};
use crate::program::bindings::{self, Bindings};
use crate::program::examination::{self as program, Kind, Program};
use crate::program::loader::Search;
use crate::program::mpi::Abi;
use crate::program::mpi::{self, Library, Wanted};
use evenkeel_barrier_table::TableError;
use evenkeel_barrier_table::location::{self, ActiveTable};
use std::path::{Path, PathBuf};

/// What the doctor says, and whether evenkeel can be used.
pub struct Verdict {
    pub text: String,
    pub usable: bool,
}

/// Looks at the machine and, if one is named, at a program.
pub fn doctor(name: Option<&str>) -> Result<Verdict, Failure> {
    let on_path = program::search_path();
    let search = Search::of_this_machine();
    let shims = shim::installed();
    let mut text = String::new();
    text += &format!("evenkeel {}\n\n", env!("CARGO_PKG_VERSION"));

    let libraries = mpi::installed(Wanted::Auto, &search, &on_path);
    text += &show_shims(&shims);
    text += &show_agent(&shims, &search.all_named("libucp.so.0"));
    text += &show_libraries(&libraries, &shims, &on_path);
    let cores = quota::usable_cores();
    text += &show_cores(
        &cores,
        quota::physical_cores(&cores),
        quota::own_cpu_quota().as_ref(),
        quota::process_limit(),
    );
    text += &show_table(location::active_table(), quota::cores_at_once());
    let executable = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("evenkeel"));
    let trials = kernel::trials(&executable);
    text += &show_trials(&trials);

    let fits = |l: &Library| shims.as_ref().is_ok_and(|s| s.for_library(l).is_ok());
    let mut usable = trials.iter().all(|t| !t.vital || t.trouble.is_none());
    let mut reasons: Vec<String> = Vec::new();
    if !usable {
        reasons.push("the kernel refuses what evenkeel cannot do without (see above)".into());
    }
    match name {
        None => {
            if !libraries.iter().any(fits) {
                usable = false;
                reasons.push("there is no MPI library that a shim here fits".into());
            }
        }
        Some(name) => {
            let file = program::find(name, &on_path)?;
            let program = program::examine(&file, &search, &on_path)?;
            let (said, trouble) = show_program(&program, &shims, &on_path);
            text += &said;
            usable &= trouble.is_none();
            reasons.extend(trouble);
        }
    }
    let subject = name.map_or("evenkeel can be used here".to_string(), |n| format!("evenkeel can run {n}"));
    text += &match usable {
        true => format!("\n{subject}.\n"),
        false => format!("\n{}: {}.\n", subject.replacen(" can ", " cannot ", 1), reasons.join("; ")),
    };
    Ok(Verdict { text, usable })
}

fn show_shims(shims: &Result<Shims, Failure>) -> String {
    match shims {
        Err(failure) => format!("Shims\n  {failure}\n\n"),
        Ok(shims) => {
            let mut text = format!("Shims in {}\n", shims.directory.display());
            for shim in &shims.all {
                let built =
                    if shim.about.mpi.is_empty() { "an unknown MPI" } else { shim.about.mpi.as_str() };
                text += &format!("  {:<9} built against {built}\n", shim.about.name);
            }
            for abi in Abi::ALL.iter().filter(|a| shims.named(a.shim()).is_none()) {
                text += &format!(
                    "  {:<9} not built: headers of {} were not there at build time\n",
                    abi.shim(),
                    abi.title()
                );
            }
            text + "\n"
        }
    }
}

/// What `--nodes agents` needs besides the shims; without it communicators that span nodes stay the
/// host library's.
fn show_agent(shims: &Result<Shims, Failure>, ucx: &[PathBuf]) -> String {
    let Ok(shims) = shims else { return String::new() };
    let place = shims.directory.join("evenkeel-agent");
    let agent = match place.exists() {
        true => "evenkeel-agent is there".to_string(),
        false => format!("{} is missing; install it beside the shims", place.display()),
    };
    let fabric = match ucx.first() {
        Some(path) => path.display().to_string(),
        None => "no libucp.so.0; install UCX 1.11 or later (Debian's package libucx0)".to_string(),
    };
    format!("Several machines, --nodes agents\n  agent     {agent}\n  UCX       {fabric}\n\n")
}

fn show_libraries(libraries: &[Library], shims: &Result<Shims, Failure>, on_path: &[PathBuf]) -> String {
    let mut text = String::from("MPI libraries that programs find here by themselves\n");
    if libraries.is_empty() {
        text += "  none (looked in LD_LIBRARY_PATH, beside the launchers on PATH, in the linker's cache)\n";
    }
    for library in libraries {
        text += &format!(
            "  {}\n    is {}; {}; {}\n",
            library.path.display(),
            library.abi.title(),
            show_shim(library, shims),
            show_launcher(library, on_path)
        );
    }
    text + "\n"
}

fn show_shim(library: &Library, shims: &Result<Shims, Failure>) -> String {
    match shims.as_ref().map(|s| s.for_library(library)) {
        Ok(Ok(shim)) => format!("shim {} fits", shim.about.name),
        Ok(Err(failure)) => format!("evenkeel {failure}"),
        Err(_) => "there are no shims".into(),
    }
}

fn show_launcher(library: &Library, on_path: &[PathBuf]) -> String {
    match launcher::of_library(library, on_path) {
        Ok(launcher) => format!("its launcher is {}", launcher.path.display()),
        Err(_) => "its launcher is not there: use --launcher".into(),
    }
}

fn show_cores(
    cores: &[usize],
    physical: usize,
    quota: Option<&Quota>,
    processes: Option<(u64, String)>,
) -> String {
    let mut text =
        format!("Cores\n  usable under affinity and cpuset: {} ({})\n", cores.len(), quota::show_list(cores));
    if physical < cores.len() {
        text += &format!("  these are the hardware threads of {physical} cores\n");
    }
    text += &match quota {
        None => "  CPU quota: none\n".to_string(),
        Some(q) => format!("  CPU quota: {:.2} cores ({})\n", q.cores, q.from.display()),
    };
    let usable = quota::at_once(cores.len(), quota);
    text += &format!(
        "  up to {usable} ranks have a core each and may spin; with more, a rank that waits gives its core away\n"
    );
    if let Some((most, from)) = processes {
        text += &format!("  at most {most} processes ({from})\n");
    }
    text + "\n"
}

fn show_table(found: Result<Option<ActiveTable>, TableError>, cores: usize) -> String {
    let mut text = String::from("Table of schedules for barriers\n");
    match found {
        Err(trouble) => text += &format!("  {trouble}\n"),
        Ok(None) => text += "  none: barriers are run in the built-in way (evenkeel tune makes one)\n",
        Ok(Some(in_use)) => {
            text += &format!("  {}, of this machine\n", in_use.path.display());
            let here: Vec<_> = in_use.table.entries.iter().filter(|e| e.cores as usize == cores).collect();
            for entry in &here {
                let way = entry.schedule.as_deref().unwrap_or("the built-in way");
                text += &format!("  {} ranks on {cores} cores: {way}\n", entry.ranks);
            }
            if here.is_empty() {
                text +=
                    &format!("  it says nothing about {cores} cores: barriers are run in the built-in way\n");
            }
        }
    }
    text + "\n"
}

fn show_trials(trials: &[Trial]) -> String {
    let mut text = String::from("Kernel, each tried just now\n");
    for t in trials {
        text += &match &t.trouble {
            None => format!("  {:<33} works: {}\n", t.name, t.used_for),
            Some(why) => format!(
                "  {:<33} does not work ({why}): {} needs it; without it, {}\n",
                t.name, t.used_for, t.without
            ),
        };
    }
    text
}

/// What there is to say about a program, and why evenkeel cannot run it, if it cannot.
fn show_program(
    program: &Program,
    shims: &Result<Shims, Failure>,
    on_path: &[PathBuf],
) -> (String, Option<String>) {
    let mut text = format!("\nProgram {}\n", program.path.display());
    for step in &program.steps {
        text += &format!("  {step}\n");
    }
    let library = match &program.mpi {
        Ok(library) => library,
        Err(why) => {
            let sentence = program.failure(why).to_string();
            text += &format!("  evenkeel {sentence}\n");
            return (text, Some("its MPI cannot be served".into()));
        }
    };
    text += &format!(
        "  MPI: {} ({}); {}; {}\n",
        library.path.display(),
        library.abi.title(),
        show_shim(library, shims),
        show_launcher(library, on_path)
    );
    let found = bindings::of(&program.resolved, program.kind == Kind::Python);
    text += &show_bindings(&found, &program.path);
    let trouble = match shims {
        Ok(s) => s.for_library(library).err().map(|_| "no shim fits its MPI".to_string()),
        Err(_) => Some("there are no shims".to_string()),
    };
    let nothing_covered = !found.used.is_empty() && found.used.iter().all(|b| !b.covered);
    (text, trouble.or(nothing_covered.then(|| "none of the bindings it uses is covered".to_string())))
}

fn show_bindings(found: &Bindings, program: &Path) -> String {
    let mut text = String::new();
    if found.used.is_empty() {
        text += "  bindings: none of its files calls MPI directly; what it loads while running cannot be seen from here\n";
    }
    for b in &found.used {
        let by =
            if b.used_by == program { String::new() } else { format!(" in {}", mpi::file_name(&b.used_by)) };
        let verdict = if b.covered { "covered" } else { "not covered" };
        text += &format!("  {}{by}: {verdict}: {}\n", b.name, b.because);
    }
    if found.used.iter().any(|b| b.name.starts_with("Python")) {
        // mpi4py wraps everything; what the script calls of it shows only when it runs.
        return text
            + "  of mpi4py's collectives, the persistent and the neighbourhood ones stay the host library's\n";
    }
    let (ours, theirs): (Vec<&str>, Vec<&str>) =
        found.collectives.iter().map(String::as_str).partition(|o| bindings::is_served(o));
    if !ours.is_empty() {
        text += &format!("  collectives it may call that evenkeel carries out: {}\n", ours.join(", "));
    }
    if !theirs.is_empty() {
        text += &format!("  collectives it may call that stay the host library's: {}\n", theirs.join(", "));
    }
    text
}
