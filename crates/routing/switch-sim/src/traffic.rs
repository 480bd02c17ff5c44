//! What hosts send.

pub(crate) mod open_loop;
mod pattern;

pub use open_loop::{OpenLoop, Traffic};
pub use pattern::{Destinations, Length, Pattern};
