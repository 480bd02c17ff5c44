//! Generates the wrapper functions of a shim: `MPI_X` and `PMPI_X` for every X that evenkeel interposes
//! and that the MPI library at hand declares.
//!
//! Input: the machine-readable MPI standard (what parameters a function has and what they mean) and the
//! library's `mpi.h` after the preprocessor (which functions there are). Output: `declared.h` and
//! `wrappers.c`, compiled together with `shims/src/*.c`. It may use serde_json; it knows the names of
//! the shim's functions and nothing of what they do.

mod families;
mod standard;
mod wrappers;

use std::{collections::BTreeSet, fs, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [standard, header, out] = args.as_slice() else {
        eprintln!("usage: evenkeel-shim-generate STANDARD.json PREPROCESSED_MPI_H OUTDIR");
        return ExitCode::from(2);
    };
    match run(Path::new(standard), Path::new(header), Path::new(out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("evenkeel-shim-generate: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(standard: &Path, header: &Path, out: &Path) -> Result<(), String> {
    let read =
        |path: &Path| fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()));
    let write = |name: &str, text: String| {
        let path = out.join(name);
        fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    let apis = standard::Standard::parse(&read(standard)?)?;
    let declared = declared(&read(header)?);
    if !declared.contains("MPI_Init") {
        return Err(format!("{} declares no PMPI_Init: not a preprocessed mpi.h", header.display()));
    }
    write("declared.h", declared_h(&declared))?;
    write("wrappers.c", wrappers::source(&apis, &declared)?)
}

/// Names (`MPI_X`) of all functions for which the header declares `PMPI_X`.
fn declared(header: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in header.match_indices("PMPI_") {
        let before = header[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &header[at + 1..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if rest[end..].trim_start().starts_with('(') {
            names.insert(rest[..end].to_string());
        }
    }
    names
}

fn declared_h(declared: &BTreeSet<String>) -> String {
    let mut text = String::from("/* Generated: the functions that this MPI library's mpi.h declares. */\n");
    for name in declared {
        text += &format!("#define EK_HAS_{} 1\n", &name["MPI_".len()..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_declarations_and_nothing_else() {
        let header = "int PMPI_Send (const void *b, int n);\nint XPMPI_No(int);\n/* PMPI_Word */ int MPI_Recv(void);\nint\nPMPI_Recv_c(void)";
        let names: Vec<_> = declared(header).into_iter().collect();
        assert_eq!(names, ["MPI_Recv_c", "MPI_Send"]);
    }
}
