//! Finds the shims beside the program itself and picks the one that fits an MPI library.

use crate::errors::Failure;
use crate::program::mpi::Library;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// One shim: a shared library with a description beside it that its build wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Shim {
    pub path: PathBuf,
    pub about: About,
}

/// `<name>.json` beside `libevenkeel-<name>.so`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct About {
    pub name: String,
    /// Of the MPI library it was built against.
    #[serde(default)]
    pub soname: String,
    /// That library in words: "Open MPI v4.1.4".
    #[serde(default)]
    pub mpi: String,
    /// Version of evenkeel.
    #[serde(default)]
    pub version: String,
}

/// The directory of shims and what is in it.
#[derive(Clone, Debug, Default)]
pub struct Shims {
    pub directory: PathBuf,
    pub all: Vec<Shim>,
}

/// Where shims may be: `$EVENKEEL_LIB`, or relative to the program: a checkout's target/release, or an
/// installation.
pub fn directories(executable: Option<&Path>, override_: Option<&Path>) -> Vec<PathBuf> {
    if let Some(directory) = override_ {
        return vec![directory.to_path_buf()];
    }
    let Some(beside) = executable.and_then(Path::parent) else { return Vec::new() };
    let mut found = vec![beside.join("lib/evenkeel")];
    found.extend(beside.parent().map(|up| up.join("lib/evenkeel")));
    found
}

/// The shims of this installation.
pub fn installed() -> Result<Shims, Failure> {
    let executable = std::env::current_exe().ok().map(|e| e.canonicalize().unwrap_or(e));
    let override_ = std::env::var_os("EVENKEEL_LIB").filter(|v| !v.is_empty()).map(PathBuf::from);
    let looked = directories(executable.as_deref(), override_.as_deref());
    for directory in &looked {
        let all = in_directory(directory);
        if !all.is_empty() {
            let directory = directory.canonicalize().unwrap_or_else(|_| directory.clone());
            return Ok(Shims { all: in_directory(&directory), directory });
        }
    }
    Err(Failure::NoShims { looked })
}

fn in_directory(directory: &Path) -> Vec<Shim> {
    let Ok(entries) = directory.read_dir() else { return Vec::new() };
    let mut found: Vec<Shim> = entries.flatten().filter_map(|entry| describe(&entry.path())).collect();
    found.sort_by(|a, b| a.about.name.cmp(&b.about.name));
    found
}

/// The shim in a file, if its name says that it is one. Without a description beside it, its name has to do.
fn describe(file: &Path) -> Option<Shim> {
    let name =
        crate::program::mpi::file_name(file).strip_prefix("libevenkeel-")?.strip_suffix(".so")?.to_string();
    let beside = std::fs::read_to_string(file.with_file_name(format!("{name}.json"))).ok();
    let about = beside.and_then(|text| serde_json::from_str::<About>(&text).ok()).unwrap_or_default();
    Some(Shim { path: file.to_path_buf(), about: About { name, ..about } })
}

impl Shims {
    /// The library that keeps MPICH's launcher from giving each rank a session, where the kernel schedules
    /// by session.
    pub fn one_session(&self) -> Option<PathBuf> {
        let by_session = std::fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled")
            .is_ok_and(|t| t.trim() == "1");
        Some(self.directory.join("evenkeel-one-session.so")).filter(|file| by_session && file.is_file())
    }

    pub fn named(&self, name: &str) -> Option<&Shim> {
        self.all.iter().find(|s| s.about.name == name)
    }

    /// The shim for a library; one built from another version of evenkeel is refused.
    pub fn for_library(&self, library: &Library) -> Result<&Shim, Failure> {
        let shim =
            library.abi.shims().iter().find_map(|name| self.named(name)).ok_or_else(|| Failure::NoShim {
                library: library.path.clone(),
                title: library.abi.title(),
                directory: self.directory.clone(),
                present: self.all.iter().map(|s| s.about.name.clone()).collect(),
            })?;
        let ours = env!("CARGO_PKG_VERSION");
        if !shim.about.version.is_empty() && shim.about.version != ours {
            return Err(Failure::ShimVersion {
                shim: shim.path.clone(),
                theirs: shim.about.version.clone(),
                ours: ours.to_string(),
            });
        }
        Ok(shim)
    }
}
