//! `evenkeel export`: when the ranks of a run have called MPI.

mod arguments;
mod command;
mod perfetto;
mod run_times;
mod summary;

pub use arguments::ExportArguments;
pub use command::export;
