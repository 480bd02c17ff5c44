//! What commands show and write: the terminal, progress bars, files, plots.
//!
//! May use: [`errors`](crate::errors), output-file, indicatif, plotters. Must never: know a command.

pub mod file;
pub mod outcome;
pub mod place;
pub mod plot;
pub mod progress;
pub mod standard_output;
pub mod terminal;
