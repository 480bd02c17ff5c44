//! What can go wrong while wrappers are generated.

use std::path::PathBuf;

/// Why there are no wrappers.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// An input cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The input.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// An output cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The output.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The header is not what it should be.
    #[error("{0} declares no PMPI_Init: not a preprocessed mpi.h")]
    NotMpi(PathBuf),
    /// The machine-readable standard is not as expected.
    #[error("the standard's JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A function is to be wrapped that does not exist.
    #[error("the standard has no {0}")]
    NoFunction(String),
    /// A function's entry is incomplete.
    #[error("{0} has no parameter list")]
    NoParameters(String),
    /// A type that the generator cannot write in C.
    #[error("{function}: parameter {parameter} is of a kind ({kind}) that the generator does not know")]
    UnknownKind {
        /// Whose parameter.
        function: String,
        /// Its name.
        parameter: String,
        /// The standard's kind.
        kind: String,
    },
    /// A collective has a parameter that `ek_arguments` does not have.
    #[error("{function}: ek_arguments has no place for parameter {parameter}")]
    NoField {
        /// Whose parameter.
        function: String,
        /// Its name.
        parameter: String,
    },
    /// A template asks for something that its function does not have.
    #[error("{function}: nothing to put for @{placeholder}@ in its template")]
    NoValue {
        /// Whose template.
        function: String,
        /// The placeholder's name.
        placeholder: String,
    },
}
