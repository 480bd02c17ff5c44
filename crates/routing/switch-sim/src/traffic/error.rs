//! Why a description of traffic cannot be read.

use thiserror::Error;

/// Why a description of traffic cannot be read. It has the text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TrafficError {
    /// Not the name of a pattern.
    #[error(
        "`{0}` is no pattern: there are uniform, bit-reversal, shuffle, transpose, local and local:LINKS"
    )]
    Pattern(String),
    /// Not a length.
    #[error("`{0}` is no length: give phits (32), or SHORT:LONG:SHARE_OF_SHORT (32:512:0.75)")]
    Length(String),
}
