//! The table of schedules cannot be written.

use std::path::PathBuf;
use thiserror::Error;

/// Why `evenkeel tune` has no place for its table.
#[derive(Debug, Error)]
pub enum TuneError {
    /// The environment does not say where configuration lies.
    #[error(
        "cannot tell where to write the table: neither XDG_CONFIG_HOME nor HOME is set. Name a file with \
         --table, or write none with --dry-run."
    )]
    NoPlace,

    /// The file holds something else.
    #[error(
        "cannot add to {}: {why}, and evenkeel does not overwrite it. Name another file with --table, or \
         move this one away.",
        .path.display()
    )]
    NotATable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}
