//! Exclusive scans: rank i gets the inputs of ranks 0 to i-1, combined. Rank 0 gets nothing.
//!
//! In the flat algorithm a rank combines for itself. In the others its output arrives in one message with
//! flag [`RESULT`], which depends only on the ranks below. So it may arrive before the rank has
//! contributed anything itself, and an executor may use it then. No rank hears from the ranks above it,
//! so messages to them are acknowledged, as in [scans](super::scan).

use crate::step::Flag;

pub(crate) mod flat;
pub(crate) mod linear;
pub(crate) mod recursive_doubling;

/// The flag that rises when a rank's result has arrived.
pub const RESULT: Flag = Flag(0);
/// Raised by the next rank above when it has read what it was sent.
const READ: Flag = Flag(1);
