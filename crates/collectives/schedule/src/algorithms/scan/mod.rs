//! Scans: rank i gets the inputs of ranks 0 to i, combined.
//!
//! No rank hears from the ranks above it, so messages to them are acknowledged: a rank sends again only
//! when its message of the bank's previous use has been read.

pub(crate) mod flat;
pub(crate) mod linear;
pub(crate) mod recursive_doubling;
