//! Through which language bindings a program reaches MPI and whether evenkeel sees its calls, judged by
//! the symbols of its files.
//!
//! A shim defines `MPI_X` and `PMPI_X` of C. A Fortran call is seen if the host's Fortran layer calls
//! one of the two through the dynamic linker; whether it does is read from that layer's own undefined
//! symbols.

use crate::program::elf;
use crate::program::examination::is_mpi_name;
use crate::program::loader::Resolved;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A binding that the program uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub name: &'static str,
    /// The file that uses it.
    pub used_by: PathBuf,
    pub covered: bool,
    pub because: String,
}

/// What was found in a program's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bindings {
    pub used: Vec<Binding>,
    /// Collective operations that the files mention, without prefix and suffix: `allreduce`, `ibarrier`.
    pub collectives: BTreeSet<String>,
}

/// The operations that evenkeel carries out; each also in its nonblocking form.
const SERVED: &[&str] = &[
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
];

#[derive(Clone, Copy, PartialEq)]
enum Tongue {
    C,
    Fortran,
    Fortran08,
}

/// Looks through the program and its libraries other than MPI's own.
pub fn of(resolved: &Resolved, is_python: bool) -> Bindings {
    let mut found = Bindings::default();
    let (mpi, own): (Vec<_>, Vec<_>) = resolved.loaded.iter().partition(|l| is_mpi_name(&l.name));
    for file in own {
        let Ok(symbols) = elf::symbols(&file.elf.path) else { continue };
        let mut tongues = Vec::new();
        for symbol in symbols.iter().filter(|s| !s.defined) {
            let Some((tongue, operation)) = mpi_call(&symbol.name) else { continue };
            if !tongues.contains(&tongue) {
                tongues.push(tongue);
            }
            if is_collective(&operation) {
                found.collectives.insert(operation);
            }
        }
        for tongue in tongues {
            let path = &file.elf.path;
            let (name, covered, because) = match tongue {
                Tongue::C if is_python => (
                    "Python (mpi4py)",
                    true,
                    "mpi4py calls the C functions, in their large-count forms too".to_string(),
                ),
                Tongue::C => ("C", true, "evenkeel stands in for the C functions".to_string()),
                Tongue::Fortran => judge("Fortran (mpif.h or use mpi)", &mpi),
                Tongue::Fortran08 => judge("Fortran 2008 (use mpi_f08)", &mpi),
            };
            found.used.push(Binding { name, used_by: path.clone(), covered, because });
        }
    }
    found
}

/// Whether the Fortran layer among MPI's own libraries calls the C functions where a shim can step in.
fn judge(name: &'static str, mpi: &[&crate::program::loader::Loaded]) -> (&'static str, bool, String) {
    for library in mpi {
        let Ok(symbols) = elf::symbols(&library.elf.path) else { continue };
        let calls =
            symbols.iter().find(|s| !s.defined && matches!(s.name.as_str(), "MPI_Barrier" | "PMPI_Barrier"));
        if let Some(symbol) = calls {
            return (
                name,
                true,
                format!("{} calls {} of C, where evenkeel stands in", library.name, symbol.name),
            );
        }
    }
    (name, false, "none of its MPI libraries calls the C functions through the dynamic linker, so its calls stay the library's".into())
}

fn mpi_call(symbol: &str) -> Option<(Tongue, String)> {
    if let Some(rest) = symbol.strip_prefix("MPI_").or_else(|| symbol.strip_prefix("PMPI_")) {
        let is_function = rest.chars().next()?.is_ascii_uppercase();
        let operation = rest.strip_suffix("_c").unwrap_or(rest).to_lowercase();
        return is_function.then_some((Tongue::C, operation));
    }
    let rest = symbol.strip_prefix("mpi_").or_else(|| symbol.strip_prefix("pmpi_"))?.strip_suffix('_')?;
    let rest08 = rest.strip_suffix("_f08ts").or_else(|| rest.strip_suffix("_f08"));
    let (tongue, operation) = rest08.map_or((Tongue::Fortran, rest), |r| (Tongue::Fortran08, r));
    Some((tongue, operation.strip_suffix("_c").unwrap_or(operation).to_string()))
}

fn is_collective(operation: &str) -> bool {
    is_served(operation)
        || operation.strip_suffix("_init").is_some_and(is_served)
        || operation.contains("neighbor_al")
}

/// Whether evenkeel carries the operation out; persistent and neighbourhood collectives stay the host's.
pub fn is_served(operation: &str) -> bool {
    SERVED.contains(&operation) || operation.strip_prefix('i').is_some_and(|o| SERVED.contains(&o))
}
