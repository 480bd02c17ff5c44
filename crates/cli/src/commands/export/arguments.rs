//! The command line of `evenkeel export`.

use std::path::PathBuf;

/// Show when the ranks of a recorded run called MPI, as a table or as a time line
///
/// The run must have been recorded with `evenkeel run --trace DIRECTORY --trace-level times`. The time line
/// is for <https://ui.perfetto.dev> and for Chrome's about:tracing: a track for each rank, a slice for each
/// call, an arrow for each message.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel run --trace t --trace-level times -n 16 -- ./app
  evenkeel export t                                   which MPI functions took the time
  evenkeel export t --format perfetto -o t.json.gz    a time line, to be opened in ui.perfetto.dev")]
pub struct ExportArguments {
    /// The folder of the trace
    #[arg(value_name = "DIRECTORY")]
    pub trace: PathBuf,
    /// What is written [default: summary, or perfetto with -o]
    #[arg(long)]
    pub format: Option<ExportFormat>,
    /// Write to this file; compressed, if its name ends in .gz
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    /// A table: calls, times and bytes of each MPI function
    Summary,
    /// A time line: Chrome's trace events, which Perfetto reads
    Perfetto,
}
