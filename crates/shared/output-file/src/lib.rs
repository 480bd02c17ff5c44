//! Writes files that users name.
//!
//! [`write()`] replaces a regular file in one step: a reader sees the old content or the new one, never a
//! part, also if the process is killed or the disk is full. It keeps the file's permissions. Links are
//! followed. A device, a pipe, a terminal or a file with several names is written in place, so that the name
//! leads to the same thing afterwards. [`obstacle`] says before a long run what would be in the way.
//!
//! May use: libc, thiserror. Must never: replace what is not a regular file, leave a part of a file that it
//! replaces, or end the process (`SIGPIPE` is an error here).

mod check;
mod destination;
mod error;
mod quiet_pipe;
mod replacement;
mod write;

pub use check::obstacle;
pub use error::{OutputError, WriteObstacle};
pub use write::write;
