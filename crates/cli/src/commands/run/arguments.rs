//! The command line of `evenkeel run`.

use crate::commands::launch_arguments::{EngineOptions, MpiArguments};
use crate::inject::injection::Injection;
use clap::value_parser;

/// Run an MPI program under evenkeel
///
/// Finds out which MPI the program is linked with (for scripts: what their interpreter loads), takes that
/// MPI's own launcher, and has it start the ranks with evenkeel's shim preloaded. The program is not changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel run -n 16 -- ./app input.dat
  evenkeel run -n 16 --wait yield --report run.json -- ./app
  evenkeel run -n 8 --launcher srun -- ./app
  evenkeel run -n 8 --launcher-args '--hostfile hosts' -- ./app
  evenkeel run -n 4 --mpi openmpi -- ./starts-mpi-programs.sh
  evenkeel run -n 4 --inject stalls=exp:10ms/100ms --inject competitors=1 -- ./app
  evenkeel run -n 4 --dry-run -- ./app        only show the launcher's command line")]
pub struct RunArguments {
    /// Number of ranks
    #[arg(short = 'n', long = "ranks", value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub ranks: u32,
    /// --mpi and --launcher.
    #[command(flatten)]
    pub mpi: MpiArguments,
    /// Further arguments for the launcher, as one word: '--hostfile hosts'
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub launcher_args: Vec<String>,
    /// Disturb the run on purpose; may be given several times [competitors=N, doubled,
    /// stalls=exp:10ms/100ms, quota=50%]
    ///
    /// Use it to see what ranks that do not respond cost, and what evenkeel saves. Every disturbance ends
    /// with the run.
    ///
    /// competitors=N: N busy threads on each core.
    ///
    /// doubled: the ranks get half of the cores, so that twice as many share one.
    ///
    /// stalls=LENGTH/INTERVAL[,seed=N][,ranks=LIST]: each rank is stopped repeatedly (SIGSTOP), each time for
    /// a random LENGTH after a random INTERVAL. exp:10ms is exponentially distributed with a mean of 10 ms;
    /// the other distributions are uniform: and fixed:. The same seed gives the same lengths and intervals.
    ///
    /// quota=50%: all ranks together get half of the cores' time. This takes a control group, and the right
    /// to make one.
    #[arg(long = "inject", value_name = "SPEC")]
    pub injections: Vec<Injection>,
    /// Print the launcher's command line instead of running it
    #[arg(long)]
    pub dry_run: bool,
    /// The options of the engine.
    #[command(flatten)]
    pub options: EngineOptions,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    #[arg(num_args = 1..)]
    pub program: Vec<String>,
}
