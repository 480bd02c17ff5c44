//! Networks as `ibnetdiscover` prints them. `ibsim` reads the same format, and a simpler one without GUIDs.

mod parse;
mod read;
mod write;

pub(super) use parse::recognizes;
pub use read::read;
pub use write::write;
