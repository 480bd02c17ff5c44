//! The command line of `evenkeel replay`.

use std::ffi::OsString;
use std::path::PathBuf;

/// Repeat a run that was recorded by `evenkeel run --trace`
///
/// Starts the same program with the same options in the same directory. Each receive gets the message that it
/// got then, each test and probe finds what it found then, and MPI_Wtime shows what it showed then, whatever
/// the machine does meanwhile. Where the program does something else than then, the repetition stops with a
/// sentence and exit code 120.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel run --trace t -n 16 -- ./app      record
  evenkeel replay t                          the same run again
  evenkeel replay t -- ./app-debug           with another build of the program
  evenkeel replay t --options '-n 16 --mpi mpich' -- ./app-mpich
  evenkeel replay t --times u && evenkeel export u     record cheaply, look closely later
  evenkeel replay t --dry-run                only show the command")]
pub struct ReplayArguments {
    /// The folder of the trace
    #[arg(value_name = "DIRECTORY")]
    pub trace: PathBuf,
    /// Options of `evenkeel run` in place of the recorded ones, as one word
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub options: Option<String>,
    /// Write when the repetition calls MPI into this folder, for `evenkeel export`
    #[arg(long, value_name = "DIRECTORY")]
    pub times: Option<PathBuf>,
    /// Print the command instead of running it
    #[arg(long)]
    pub dry_run: bool,
    /// The program and its arguments in place of the recorded ones
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}
