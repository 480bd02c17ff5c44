//! A set of model parameters cannot be used.

use super::program::names;
use std::path::PathBuf;
use thiserror::Error;

/// Why a set of parameters cannot be used.
#[derive(Debug, Error)]
pub enum ModelError {
    /// Neither a built-in set nor a file.
    #[error(
        "cannot find parameters `{name}`: no built-in set has that name (there are {}), and there is no such \
         file. Check the spelling, or measure this machine with `evenkeel model measure --json FILE`.",
        names(.known)
    )]
    NotFound {
        /// As given.
        name: String,
        /// The built-in sets.
        known: Vec<String>,
    },

    /// A file that holds no parameters.
    #[error(
        "cannot read the parameters {}: {why}. Give a file that `evenkeel model measure --json FILE` has \
         written, or a name of `evenkeel model list`.",
        .path.display()
    )]
    NotReadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },

    /// Two sets that do not make a network of nodes.
    #[error(
        "cannot combine {network} with {node}: {why}. Give the parameters of a network first and those of a \
         node with --node, or leave --node out."
    )]
    Pair {
        /// Name of the first set.
        network: String,
        /// Name of the second set.
        node: String,
        /// What is missing.
        why: &'static str,
    },

    /// Parameters on the command line that cannot be read.
    #[error(
        "cannot use `{given}` as a machine: {why}. Give one of {known}, a file of parameters, or the \
         parameters themselves: L=1.5us,o=300ns,g=200ns,G=80ps."
    )]
    Inline {
        /// As given.
        given: String,
        /// What is wrong.
        why: String,
        /// The built-in sets.
        known: String,
    },
}
