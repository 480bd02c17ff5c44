//! Files: networks as `ibnetdiscover` prints and `ibsim` reads them, or as lists of cables; forwarding
//! tables as OpenSM dumps and loads them, or as source routes.
//!
//! Everything here goes from text to values and back; nothing opens a file.

pub mod edge_list;
pub mod ibnetdiscover;
pub mod lfts;
pub mod source_routes;

use crate::network::NetworkError;
use thiserror::Error;

/// Why a text cannot be read. `line` counts from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    #[error("line {line}: {why}")]
    Line { line: usize, why: String },
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error("there is no switch in it")]
    NoSwitch,
}

fn at_line(line: usize, why: impl Into<String>) -> FormatError {
    FormatError::Line { line, why: why.into() }
}

/// Reads a network in either format: a file that mentions a `Switch` or an adapter at the beginning of
/// a line is taken for `ibnetdiscover`'s.
///
/// # Errors
/// What cannot be read, with its line.
pub fn read_network(text: &str) -> Result<crate::Network, FormatError> {
    let discovered = |line: &str| {
        ibnetdiscover::KINDS.iter().any(|kind| {
            line.strip_prefix(kind).is_some_and(|rest| rest.starts_with([' ', '\t'])) && line.contains('"')
        })
    };
    if text.lines().any(discovered) { ibnetdiscover::read(text) } else { edge_list::read(text) }
}
