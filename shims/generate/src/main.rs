//! Generates the wrapper functions of a shim: `MPI_X` and `PMPI_X` for every X that evenkeel interposes and
//! that the MPI library at hand declares.
//!
//! Input: the machine-readable MPI standard ([`standard`]: what parameters a function has and what they
//! mean) and the library's `mpi.h` after the preprocessor (which functions there are). Output: `declared.h`
//! and `wrappers.c`, compiled together with `shims/src`. [`families`] says which function has which
//! template of `shims/templates`, [`wrappers`] what is put into it.
//!
//! May use: serde_json, thiserror. Must never: know what the shim's functions do; that is in the templates.

mod call_line;
mod checking;
mod error;
mod families;
mod recording;
mod standard;
mod template;
mod timing;
mod tracing;
mod wrappers;

use error::GenerateError;
use std::{collections::BTreeSet, fs, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [standard, header, out] = args.as_slice() else {
        eprintln!("usage: evenkeel-shim-generate STANDARD.json PREPROCESSED_MPI_H OUTDIR");
        return ExitCode::from(2);
    };
    match generate(Path::new(standard), Path::new(header), Path::new(out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evenkeel-shim-generate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn generate(standard: &Path, header: &Path, out: &Path) -> Result<(), GenerateError> {
    let apis = standard::Standard::parse(&read(standard)?)?;
    let declared = declared(&read(header)?);
    if !declared.contains("MPI_Init") {
        return Err(GenerateError::NotMpi(header.to_owned()));
    }
    write(&out.join("declared.h"), &declared_h(&declared))?;
    write(&out.join("wrappers.c"), &wrappers::source(&apis, &declared)?)
}

fn read(path: &Path) -> Result<String, GenerateError> {
    fs::read_to_string(path).map_err(|source| GenerateError::Read { path: path.to_owned(), source })
}

fn write(path: &Path, text: &str) -> Result<(), GenerateError> {
    fs::write(path, text).map_err(|source| GenerateError::Write { path: path.to_owned(), source })
}

/// Names (`MPI_X`) of all functions for which the header declares `PMPI_X`.
fn declared(header: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = BTreeSet::new();
    for (at, _) in header.match_indices("PMPI_") {
        if header[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let name = &header[at + 1..];
        let end = name.find(|c| !is_word(c)).unwrap_or(name.len());
        if name[end..].trim_start().starts_with('(') {
            names.insert(name[..end].to_string());
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
        let header = "int PMPI_Send (const void *b, int n);\nint XPMPI_No(int);\n/* PMPI_Word */ \
                      int MPI_Recv(void);\nint\nPMPI_Recv_c(void)";
        let names: Vec<_> = declared(header).into_iter().collect();
        assert_eq!(names, ["MPI_Recv_c", "MPI_Send"]);
    }
}
