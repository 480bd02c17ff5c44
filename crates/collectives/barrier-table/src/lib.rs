//! The file that says which schedules run the barriers of a machine. `evenkeel tune` writes it, the engine
//! loads it, and
//! `evenkeel doctor` shows it.
//!
//! A [`BarrierTable`] has a [`TableEntry`] for each number of ranks and cores that was measured. For
//! everything else the built-in barrier is used. [`location`] says where a table is found. If anything is
//! wrong with a table, the result is a sentence and the built-in barrier, never a wrong result or a failing
//! program.
//!
//! May use: schedules and options. It reads the one file that it is told to read. Must never: choose by
//! anything that the ranks of a job see differently ([`fingerprint`] tells them whether they have the same
//! table).

pub mod error;
pub mod location;
pub mod machine;
mod table;

pub use error::{TableError, TableFormatError};
pub use table::{BarrierTable, RankPlacement, SCHEMA, TableEntry, fingerprint};
