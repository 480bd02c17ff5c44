//! The file by which the jobs of a user know each other: who takes turns, and by which timetable.
//!
//! It lies in a directory that only this user can enter. It is replaced as a whole, under a lock that the
//! kernel releases when its holder dies. So a process may die at any point: the file is the old one or the
//! new.

mod directory;
mod record;

pub use directory::Directory;
pub use record::{Record, Row, Status};
