//! Finds the shims beside this program and picks the one that fits an MPI library.

use crate::errors::LaunchError;
use crate::program::mpi::Library;
use crate::program::search_path::file_name;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use tracing::debug;

/// One shim: a shared library, with a description beside it that its build wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Shim {
    /// The library that is preloaded.
    pub path: PathBuf,
    /// Its description.
    pub description: ShimDescription,
}

/// `<name>.json` beside `libevenkeel-<name>.so`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct ShimDescription {
    /// `openmpi4`, `mpich5`, …
    pub name: String,
    /// Name of the MPI library that it was built against.
    #[serde(default)]
    pub soname: String,
    /// That library for people: "Open MPI v4.1.4".
    #[serde(default)]
    pub mpi: String,
    /// Version of evenkeel.
    #[serde(default)]
    pub version: String,
}

/// A directory of shims.
#[derive(Clone, Debug, Default)]
pub struct Shims {
    /// Where they lie.
    pub directory: PathBuf,
    /// All of them, by name.
    pub all: Vec<Shim>,
}

/// Where shims may lie: in `named` (EVENKEEL_LIB), else relative to the program, as in a checkout's
/// target/release and in an installation.
pub fn directories(executable: Option<&Path>, named: Option<&Path>) -> Vec<PathBuf> {
    if let Some(directory) = named {
        return vec![directory.to_path_buf()];
    }
    let Some(beside) = executable.and_then(Path::parent) else { return Vec::new() };
    let mut found = vec![beside.join("lib/evenkeel")];
    found.extend(beside.parent().map(|up| up.join("lib/evenkeel")));
    found
}

/// The shims of this installation.
pub fn installed() -> Result<Shims, LaunchError> {
    let executable = std::env::current_exe().ok().map(|e| e.canonicalize().unwrap_or(e));
    let named = std::env::var_os("EVENKEEL_LIB").filter(|v| !v.is_empty()).map(PathBuf::from);
    let searched = directories(executable.as_deref(), named.as_deref());
    for directory in &searched {
        let all = in_directory(directory);
        if !all.is_empty() {
            let directory = directory.canonicalize().unwrap_or_else(|_| directory.clone());
            debug!(directory = %directory.display(), shims = all.len(), "these shims are used");
            return Ok(Shims { all: in_directory(&directory), directory });
        }
    }
    Err(LaunchError::NoShims { searched })
}

fn in_directory(directory: &Path) -> Vec<Shim> {
    let Ok(entries) = directory.read_dir() else { return Vec::new() };
    let mut found: Vec<Shim> = entries.flatten().filter_map(|entry| describe(&entry.path())).collect();
    found.sort_by(|a, b| a.description.name.cmp(&b.description.name));
    found
}

/// The shim in a file, if the file's name is that of a shim. Without a description beside it only the name is
/// known.
fn describe(file: &Path) -> Option<Shim> {
    let name = file_name(file).strip_prefix("libevenkeel-")?.strip_suffix(".so")?.to_string();
    let beside = std::fs::read_to_string(file.with_file_name(format!("{name}.json"))).ok();
    let read =
        beside.and_then(|text| serde_json::from_str::<ShimDescription>(&text).ok()).unwrap_or_default();
    Some(Shim { path: file.to_path_buf(), description: ShimDescription { name, ..read } })
}

impl Shims {
    /// The library that keeps MPICH's launcher from giving each rank a session of its own; None where the
    /// kernel does not schedule by session (sched_autogroup).
    pub fn one_session(&self) -> Option<PathBuf> {
        let by_session = std::fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled")
            .is_ok_and(|t| t.trim() == "1");
        Some(self.directory.join("evenkeel-one-session.so")).filter(|file| by_session && file.is_file())
    }

    /// The shim of a name.
    pub fn named(&self, name: &str) -> Option<&Shim> {
        self.all.iter().find(|s| s.description.name == name)
    }

    /// The shim for a library. A shim of another version of evenkeel is refused.
    pub fn for_library(&self, library: &Library) -> Result<&Shim, LaunchError> {
        let shim = library.abi.shims().iter().find_map(|name| self.named(name)).ok_or_else(|| {
            LaunchError::NoShim {
                library: library.path.clone(),
                title: library.abi.title(),
                directory: self.directory.clone(),
                present: self.all.iter().map(|s| s.description.name.clone()).collect(),
            }
        })?;
        let ours = env!("CARGO_PKG_VERSION");
        if !shim.description.version.is_empty() && shim.description.version != ours {
            return Err(LaunchError::ShimVersion {
                shim: shim.path.clone(),
                theirs: shim.description.version.clone(),
                ours: ours.to_string(),
            });
        }
        Ok(shim)
    }
}
