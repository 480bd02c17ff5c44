//! Why a text cannot be read.

use crate::network::NetworkError;
use thiserror::Error;

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// A line has the wrong form, or contradicts another.
    #[error("line {line}: {why}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// The network that the text describes cannot exist.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The text has no switch.
    #[error("it contains no switch")]
    NoSwitch,
}

/// An error about a line, numbered from 1.
pub(super) fn at_line(line: usize, why: impl Into<String>) -> FormatError {
    FormatError::Line { line, why: why.into() }
}
