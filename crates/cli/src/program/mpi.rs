//! Which MPI a library file is: its ABI decides which shim fits, its maker which launcher starts it.

use super::elf::{self, Elf};
use super::loader::{Resolved, Search};
use super::search_path::file_name;
use std::path::{Path, PathBuf};

/// The binary interfaces for which there is a shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Abi {
    /// Open MPI 4.
    OpenMpi4,
    /// Open MPI 5.
    OpenMpi5,
    /// MPICH 3.1 to 4, Intel MPI, MVAPICH.
    Mpich4,
    /// MPICH 5.
    Mpich5,
    /// The standard ABI of MPI 5, `libmpi_abi.so.1`, of any maker.
    Standard,
}

/// Who made a library: their launcher starts its programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// The Open MPI project.
    OpenMpi,
    /// The MPICH project, and the makers of MPIs that descend from it: Intel MPI, MVAPICH, …
    Mpich,
}

/// An MPI library on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    /// Its binary interface.
    pub abi: Abi,
    /// Who made it.
    pub maker: Maker,
    /// The file.
    pub path: PathBuf,
    /// The name under which programs ask for it.
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

/// HPE Cray names its library after the compiler (`libmpi_gnu_91.so.12`). There is no shim for these: whether
/// they keep to MPICH's ABI is not known here. Its `libmpi.so.12` (cray-mpich-abi) does by its name.
const CRAY: [&str; 6] =
    ["libmpi_cray", "libmpi_gnu", "libmpi_intel", "libmpi_nvidia", "libmpi_amd", "libmpi_aocc"];

/// Whether an MPI library goes by this name, one without a shim included.
fn is_known(soname: &str) -> bool {
    SONAMES.contains(&soname) || CRAY.iter().any(|start| soname.starts_with(start) && soname.contains(".so."))
}

impl Abi {
    /// All of them.
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

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Abi::OpenMpi4 => "Open MPI 4",
            Abi::OpenMpi5 => "Open MPI 5",
            Abi::Mpich4 => "MPICH 3 or 4 (or a relative: Intel MPI, MVAPICH)",
            Abi::Mpich5 => "MPICH 5 (or a relative: Intel MPI, MVAPICH)",
            Abi::Standard => "MPI 5 standard ABI",
        }
    }

    /// Shims that serve it, the best first. The ABI of MPICH has not changed since 3.1, so each of its two
    /// shims serves both.
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
pub enum MpiChoice {
    /// Look at the program
    Auto,
    /// Open MPI, whichever version is found
    Openmpi,
    /// Open MPI 4
    Openmpi4,
    /// Open MPI 5
    Openmpi5,
    /// MPICH or a relative (Intel MPI, MVAPICH), whichever version is found
    Mpich,
    /// MPICH 3 or 4, or a relative
    Mpich4,
    /// MPICH 5
    Mpich5,
    /// A library of the MPI 5 standard ABI
    Mpiabi,
}

impl MpiChoice {
    /// Whether a library of this ABI is meant.
    pub fn accepts(self, abi: Abi) -> bool {
        match self {
            MpiChoice::Auto => true,
            MpiChoice::Openmpi => matches!(abi, Abi::OpenMpi4 | Abi::OpenMpi5),
            MpiChoice::Openmpi4 => abi == Abi::OpenMpi4,
            MpiChoice::Openmpi5 => abi == Abi::OpenMpi5,
            MpiChoice::Mpich => matches!(abi, Abi::Mpich4 | Abi::Mpich5),
            MpiChoice::Mpich4 => abi == Abi::Mpich4,
            MpiChoice::Mpich5 => abi == Abi::Mpich5,
            MpiChoice::Mpiabi => abi == Abi::Standard,
        }
    }

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MpiChoice::Auto => "auto",
            MpiChoice::Openmpi => "openmpi",
            MpiChoice::Openmpi4 => "openmpi4",
            MpiChoice::Openmpi5 => "openmpi5",
            MpiChoice::Mpich => "mpich",
            MpiChoice::Mpich4 => "mpich4",
            MpiChoice::Mpich5 => "mpich5",
            MpiChoice::Mpiabi => "mpiabi",
        }
    }
}

/// An MPI library that no shim fits.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownMpi {
    /// The file.
    pub library: PathBuf,
    /// The name under which programs ask for it.
    pub soname: String,
}

/// The MPI library among a program's libraries, or the one that no shim fits; None if there is no MPI among
/// them.
pub fn among(resolved: &Resolved) -> Option<Result<Library, UnknownMpi>> {
    // The standard ABI first: behind it an implementation may load its own libmpi.
    let mut candidates: Vec<&Elf> =
        resolved.loaded.iter().skip(1).map(|l| &l.elf).filter(|e| is_known(&known_as(e))).collect();
    candidates.sort_by_key(|e| !known_as(e).starts_with("libmpi_abi"));
    let first = candidates.first()?;
    Some(identify(first).ok_or_else(|| UnknownMpi { library: first.path.clone(), soname: known_as(first) }))
}

/// What a library file is; None if no shim fits it.
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

/// The MPI library in a file, or that no shim fits it; None for a file that is no MPI library.
pub fn recognise(file: &Path) -> Option<Result<Library, UnknownMpi>> {
    let elf = Elf::read(file).ok()?;
    let soname = elf.soname.clone().filter(|soname| is_known(soname))?;
    Some(identify(&elf).ok_or_else(|| UnknownMpi { library: file.into(), soname }))
}

/// Whether this is the name of an MPI library: libmpi.so.40, libmpich.so.12, libmpi_mpifh.so.40,
/// libmpi_abi.so.1.
pub fn is_mpi_name(name: &str) -> bool {
    ["libmpi.", "libmpi_", "libmpich", "libmpifort", "libmpicxx"].iter().any(|start| name.starts_with(start))
}

/// The MPI libraries that `wanted` accepts where a program would find them by itself and beside the
/// launchers on PATH.
pub fn installed(wanted: MpiChoice, search: &Search, path: &[PathBuf]) -> Vec<Library> {
    let mut files: Vec<PathBuf> = Vec::new();
    // A launcher on PATH shows what the user means more clearly than the system's library cache.
    let has_launcher =
        |directory: &&PathBuf| ["mpirun", "mpiexec"].iter().any(|l| directory.join(l).exists());
    for prefix in path.iter().filter(has_launcher).filter_map(|directory| directory.parent()) {
        if !matches!(prefix.to_str(), Some("/" | "/usr")) {
            let of_name = |name: &&str| ["lib", "lib64"].map(|lib| prefix.join(lib).join(name));
            files.extend(SONAMES.iter().flat_map(of_name));
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
        let library = Elf::read(&file).ok().filter(Elf::fits_this_machine).and_then(|elf| identify(&elf));
        found.extend(library.filter(|l| wanted.accepts(l.abi)));
    }
    found
}

fn is_open_mpi_5(elf: &Elf) -> bool {
    let needs = |start: &str| elf.needed.iter().any(|n| n.starts_with(start));
    // Version 4 has the run-time layer libopen-rte beside it, which version 5 gave up. Builds in one file
    // differ in MPI 4's sessions.
    needs("libopen-pal.so.80")
        || (!needs("libopen-rte")
            && !needs("libopen-pal.so.40")
            && elf::defines(&elf.path, &["MPI_Session_init"]))
}

fn known_as(elf: &Elf) -> String {
    elf.soname.clone().unwrap_or_else(|| file_name(&elf.path))
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn libraries_of_hpe_cray_are_known_and_bindings_are_not() {
        for library in ["libmpi_cray.so.12", "libmpi_gnu_91.so.12", "libmpi_gnu.so.12", "libmpi.so.12"] {
            assert!(is_known(library), "{library}");
        }
        for other in ["libmpi_cxx.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpifort.so.12"]
        {
            assert!(!is_known(other), "{other}");
        }
    }
}
