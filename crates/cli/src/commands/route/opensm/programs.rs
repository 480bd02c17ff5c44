//! The programs that are needed: OpenSM, ibsim and, if it is installed, ibdmchk.

use crate::errors::{OpenSmError, RouteReason};
use std::path::PathBuf;
use std::process::Child;
use tempfile::TempDir;
use tracing::debug;

/// Where Debian puts the library that passes OpenSM's packets to ibsim, below a directory of libraries.
const SIMULATED_UMAD: &str = "umad2sim/libumad2sim.so";

/// The programs.
#[derive(Clone, Debug)]
pub struct OpenSm {
    /// OpenSM itself.
    pub opensm: PathBuf,
    /// The simulator of switches.
    pub ibsim: PathBuf,
    /// The library that passes OpenSM's packets to it.
    pub umad: PathBuf,
    /// A second checker of tables, from the Debian package ibutils.
    pub ibdmchk: Option<PathBuf>,
}

impl OpenSm {
    /// Finds the programs, or says which one is missing.
    pub fn find() -> Result<OpenSm, OpenSmError> {
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        let directories: Vec<PathBuf> = std::env::split_paths(&on_path).chain(["/usr/sbin".into()]).collect();
        let find = |name: &'static str| {
            let file = directories.iter().map(|directory| directory.join(name)).find(|file| file.is_file());
            debug!(found = ?file, "searched {name}");
            file.ok_or(OpenSmError::NoProgram(name))
        };
        let libraries =
            std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
        let mut umad = libraries.chain(["/usr/lib".into()]).map(|directory| directory.join(SIMULATED_UMAD));
        Ok(OpenSm {
            opensm: find("opensm")?,
            ibsim: find("ibsim")?,
            umad: umad.find(|file| file.is_file()).ok_or(OpenSmError::NoProgram("libumad2sim.so"))?,
            ibdmchk: find("ibdmchk").ok(),
        })
    }
}

/// A directory for the programs' files, which is removed when it is dropped.
pub fn scratch_directory() -> Result<TempDir, RouteReason> {
    tempfile::Builder::new().prefix("evenkeel-").tempdir().map_err(RouteReason::ScratchDirectory)
}

/// A process that is killed when it is dropped.
pub struct KilledOnDrop(pub Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
