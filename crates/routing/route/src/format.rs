//! File formats: networks as `ibnetdiscover` prints and `ibsim` reads them, or as lists of cables; forwarding
//! tables as OpenSM dumps and loads them, or as source routes.
//!
//! Everything here converts between text and values. Must never: open a file.

pub mod edge_list;
mod error;
pub mod ibnetdiscover;
pub mod lfts;
pub mod source_routes;

use crate::network::Network;
pub use error::FormatError;

/// Reads a network in either format. A text in which a line begins with `Switch` or the word for an adapter
/// is taken for `ibnetdiscover`'s.
///
/// # Errors
/// The text has neither format, or contradicts itself. Errors name the line.
pub fn read_network(text: &str) -> Result<Network, FormatError> {
    if ibnetdiscover::recognizes(text) { ibnetdiscover::read(text) } else { edge_list::read(text) }
}
