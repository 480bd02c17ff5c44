//! `evenkeel tune`: finds the fastest barriers for this machine and writes a table of them.
//!
//! The tune crate decides what to try, when to drop it and what follows from it. Here processes are started
//! ([`engine_ranks`]), the time is divided ([`measurement`]), and the table is written ([`table_file`]);
//! [`result`] is what was found, [`text`] shows it. The ranks of a measurement are made of the engine itself,
//! the one place where this program links it.

mod arguments;
mod command;
mod engine_ranks;
mod measurement;
mod result;
mod table_file;
mod text;

pub use arguments::{TuneArguments, TuneCommand};
pub use command::tune;
