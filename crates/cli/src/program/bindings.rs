//! Through which language bindings a program calls MPI, and whether a shim sees these calls, judged by the
//! symbols of its files.
//!
//! A shim defines `MPI_X` and `PMPI_X` of C. It sees a Fortran call if the host library's Fortran layer calls
//! one of the two through the dynamic linker; the undefined symbols of that layer tell whether it does.

use super::elf;
use super::loader::{Loaded, Resolved};
use super::mpi::is_mpi_name;
use evenkeel_record::COLLECTIVES;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A binding that the program uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Its language, for people.
    pub name: &'static str,
    /// The file that uses it.
    pub used_by: PathBuf,
    /// Whether a shim sees its calls.
    pub covered: bool,
    /// Why, or why not.
    pub because: String,
}

/// What the symbols of a program's files tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bindings {
    /// The bindings through which it calls MPI.
    pub used: Vec<Binding>,
    /// Collective operations that the files mention, without prefix and suffix: `allreduce`, `ibarrier`.
    pub collectives: BTreeSet<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    C,
    Fortran,
    Fortran08,
}

/// Examines the program and its libraries other than MPI's own.
pub fn of(resolved: &Resolved, is_python: bool) -> Bindings {
    let mut found = Bindings::default();
    let (mpi, own): (Vec<_>, Vec<_>) = resolved.loaded.iter().partition(|l| is_mpi_name(&l.name));
    for file in own {
        let Ok(symbols) = elf::symbols(&file.elf.path) else { continue };
        let mut languages = Vec::new();
        for symbol in symbols.iter().filter(|s| !s.defined) {
            let Some((language, operation)) = mpi_call(&symbol.name) else { continue };
            if !languages.contains(&language) {
                languages.push(language);
            }
            if is_collective(&operation) {
                found.collectives.insert(operation);
            }
        }
        for language in languages {
            let path = &file.elf.path;
            let (name, covered, because) = match language {
                Language::C if is_python => (
                    "Python (mpi4py)",
                    true,
                    "mpi4py calls the C functions, in their large-count forms too".to_string(),
                ),
                Language::C => ("C", true, "evenkeel replaces the C functions".to_string()),
                Language::Fortran => fortran("Fortran (mpif.h or use mpi)", &mpi),
                Language::Fortran08 => fortran("Fortran 2008 (use mpi_f08)", &mpi),
            };
            found.used.push(Binding { name, used_by: path.clone(), covered, because });
        }
    }
    found
}

/// Whether the Fortran layer among MPI's own libraries calls the C functions that a shim replaces.
fn fortran(name: &'static str, mpi: &[&Loaded]) -> (&'static str, bool, String) {
    for library in mpi {
        let Ok(symbols) = elf::symbols(&library.elf.path) else { continue };
        let calls =
            symbols.iter().find(|s| !s.defined && matches!(s.name.as_str(), "MPI_Barrier" | "PMPI_Barrier"));
        if let Some(symbol) = calls {
            return (
                name,
                true,
                format!("{} calls {} of C, which evenkeel replaces", library.name, symbol.name),
            );
        }
    }
    let because = "none of its MPI libraries calls the C functions through the dynamic linker, so the MPI \
                   library serves its calls";
    (name, false, because.into())
}

/// The binding and the operation that a symbol belongs to: `PMPI_Allreduce_c` is C and `allreduce`.
fn mpi_call(symbol: &str) -> Option<(Language, String)> {
    if let Some(rest) = symbol.strip_prefix("MPI_").or_else(|| symbol.strip_prefix("PMPI_")) {
        let is_function = rest.chars().next()?.is_ascii_uppercase();
        let operation = rest.strip_suffix("_c").unwrap_or(rest).to_lowercase();
        return is_function.then_some((Language::C, operation));
    }
    let rest = symbol.strip_prefix("mpi_").or_else(|| symbol.strip_prefix("pmpi_"))?.strip_suffix('_')?;
    let rest08 = rest.strip_suffix("_f08ts").or_else(|| rest.strip_suffix("_f08"));
    let (language, operation) = rest08.map_or((Language::Fortran, rest), |r| (Language::Fortran08, r));
    Some((language, operation.strip_suffix("_c").unwrap_or(operation).to_string()))
}

fn is_collective(operation: &str) -> bool {
    is_served(operation)
        || operation.strip_suffix("_init").is_some_and(is_served)
        || operation.contains("neighbor_al")
}

/// Whether evenkeel carries the operation out. Persistent and neighbourhood collectives are left to the MPI
/// library.
pub fn is_served(operation: &str) -> bool {
    COLLECTIVES.contains(&operation) || operation.strip_prefix('i').is_some_and(|o| COLLECTIVES.contains(&o))
}
