//! Which MPI a library file is: the ABI decides about the shim, the maker about the launcher.

use crate::program::elf::{self, Elf};
use crate::program::loader::{Resolved, Search};
use std::path::{Path, PathBuf};

/// The binary interfaces for which there is a shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Abi {
    OpenMpi4,
    OpenMpi5,
    Mpich4,
    Mpich5,
    /// The standard ABI of MPI 5, `libmpi_abi.so.1`, whoever made the library.
    Standard,
}

/// Whose launcher starts it and how that launcher takes its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    OpenMpi,
    /// MPICH and what descends from it: Intel MPI, MVAPICH, …
    Mpich,
}

/// An MPI library on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    pub abi: Abi,
    pub maker: Maker,
    pub path: PathBuf,
    pub soname: String,
}

/// The sonames under which MPI libraries are known, those without a shim included.
pub const SONAMES: &[&str] = &[
    "libmpi.so.40",
    "libmpi.so.12",
    "libmpich.so.12",
    "libmpi_abi.so.1",
    "libmpi_abi.so.0",
    "libmpi.so.20",
    "libmpi.so.1",
    "libmpi.so.0",
    "libmpich.so.10",
];

impl Abi {
    pub const ALL: [Abi; 5] = [Abi::OpenMpi4, Abi::OpenMpi5, Abi::Mpich4, Abi::Mpich5, Abi::Standard];

    /// Name of the shim: `libevenkeel-<name>.so`; also what `--mpi` takes.
    pub fn shim(self) -> &'static str {
        match self {
            Abi::OpenMpi4 => "openmpi4",
            Abi::OpenMpi5 => "openmpi5",
            Abi::Mpich4 => "mpich4",
            Abi::Mpich5 => "mpich5",
            Abi::Standard => "mpiabi",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Abi::OpenMpi4 => "Open MPI 4",
            Abi::OpenMpi5 => "Open MPI 5",
            Abi::Mpich4 => "MPICH 3 or 4 (or a relative: Intel MPI, MVAPICH)",
            Abi::Mpich5 => "MPICH 5 (or a relative: Intel MPI, MVAPICH)",
            Abi::Standard => "MPI 5 standard ABI",
        }
    }

    /// Shims that serve it, the best first. The ABI of MPICH has not changed since 3.1, so its two shims
    /// stand in for each other.
    pub fn shims(self) -> &'static [&'static str] {
        match self {
            Abi::OpenMpi4 => &["openmpi4"],
            Abi::OpenMpi5 => &["openmpi5"],
            Abi::Mpich4 => &["mpich4", "mpich5"],
            Abi::Mpich5 => &["mpich5", "mpich4"],
            Abi::Standard => &["mpiabi"],
        }
    }
}

/// What `--mpi` accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Wanted {
    /// Look at the program
    Auto,
    /// Open MPI, whichever version is found
    Openmpi,
    Openmpi4,
    Openmpi5,
    /// MPICH or a relative (Intel MPI, MVAPICH), whichever version is found
    Mpich,
    Mpich4,
    Mpich5,
    /// A library of the MPI 5 standard ABI
    Mpiabi,
}

impl Wanted {
    pub fn accepts(self, abi: Abi) -> bool {
        match self {
            Wanted::Auto => true,
            Wanted::Openmpi => matches!(abi, Abi::OpenMpi4 | Abi::OpenMpi5),
            Wanted::Openmpi4 => abi == Abi::OpenMpi4,
            Wanted::Openmpi5 => abi == Abi::OpenMpi5,
            Wanted::Mpich => matches!(abi, Abi::Mpich4 | Abi::Mpich5),
            Wanted::Mpich4 => abi == Abi::Mpich4,
            Wanted::Mpich5 => abi == Abi::Mpich5,
            Wanted::Mpiabi => abi == Abi::Standard,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Wanted::Auto => "auto",
            Wanted::Openmpi => "openmpi",
            Wanted::Openmpi4 => "openmpi4",
            Wanted::Openmpi5 => "openmpi5",
            Wanted::Mpich => "mpich",
            Wanted::Mpich4 => "mpich4",
            Wanted::Mpich5 => "mpich5",
            Wanted::Mpiabi => "mpiabi",
        }
    }
}

/// The MPI library among a program's libraries; `Err` with the soname if it is one that no shim fits.
pub fn among(resolved: &Resolved) -> Option<Result<Library, (PathBuf, String)>> {
    // The standard ABI first: an implementation may bring its own libmpi along behind it.
    let mut candidates: Vec<&Elf> = resolved
        .loaded
        .iter()
        .skip(1)
        .map(|l| &l.elf)
        .filter(|e| SONAMES.contains(&known_as(e).as_str()))
        .collect();
    candidates.sort_by_key(|e| !known_as(e).starts_with("libmpi_abi"));
    let first = candidates.first()?;
    Some(identify(first).ok_or_else(|| (first.path.clone(), known_as(first))))
}

/// What a library file is; none if no shim fits.
pub fn identify(elf: &Elf) -> Option<Library> {
    let soname = known_as(elf);
    let (abi, maker) = match soname.as_str() {
        "libmpi.so.40" if is_open_mpi_5(elf) => (Abi::OpenMpi5, Maker::OpenMpi),
        "libmpi.so.40" => (Abi::OpenMpi4, Maker::OpenMpi),
        // Open MPI 1.7 to 1.10 used this soname too.
        "libmpi.so.12" if elf::defines(&elf.path, &["ompi_mpi_comm_world"]) => return None,
        "libmpi.so.12" | "libmpich.so.12" if elf::defines(&elf.path, &["MPI_Abi_get_version"]) => {
            (Abi::Mpich5, Maker::Mpich)
        }
        "libmpi.so.12" | "libmpich.so.12" => (Abi::Mpich4, Maker::Mpich),
        name if name.starts_with("libmpi_abi.so.") => {
            let open = elf.needed.iter().any(|n| n.starts_with("libopen-pal"));
            (Abi::Standard, if open { Maker::OpenMpi } else { Maker::Mpich })
        }
        _ => return None,
    };
    Some(Library { abi, maker, path: elf.path.clone(), soname })
}

/// The MPI libraries that `wanted` accepts where a program would find them by itself and beside the
/// launchers on PATH.
pub fn installed(wanted: Wanted, search: &Search, path: &[PathBuf]) -> Vec<Library> {
    let mut files: Vec<PathBuf> = Vec::new();
    // A launcher on PATH says what its user means more clearly than the system's library cache.
    for directory in path {
        if ["mpirun", "mpiexec"].iter().any(|l| directory.join(l).exists()) {
            if let Some(prefix) = directory.parent().filter(|p| !matches!(p.to_str(), Some("/" | "/usr"))) {
                for name in SONAMES {
                    files.extend([prefix.join("lib").join(name), prefix.join("lib64").join(name)]);
                }
            }
        }
    }
    files.extend(SONAMES.iter().flat_map(|name| search.all_named(name)));
    let mut found: Vec<Library> = Vec::new();
    let mut seen = Vec::new();
    for file in files.into_iter().filter(|f| f.is_file()) {
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
        let library =
            Elf::read(&file).ok().filter(|e| e.machine == elf::own_machine()).and_then(|e| identify(&e));
        found.extend(library.filter(|l| wanted.accepts(l.abi)));
    }
    found
}

fn is_open_mpi_5(elf: &Elf) -> bool {
    let needs = |start: &str| elf.needed.iter().any(|n| n.starts_with(start));
    // 4 has the run-time layer libopen-rte beside it; 5 gave it up. Builds in one file are told apart by
    // MPI 4's sessions.
    needs("libopen-pal.so.80")
        || (!needs("libopen-rte")
            && !needs("libopen-pal.so.40")
            && elf::defines(&elf.path, &["MPI_Session_init"]))
}

fn known_as(elf: &Elf) -> String {
    elf.soname.clone().unwrap_or_else(|| file_name(&elf.path))
}

pub fn file_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}
