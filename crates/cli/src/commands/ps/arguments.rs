//! The command line of `evenkeel ps`.

/// List your jobs that run under evenkeel on this machine
///
/// A job is listed from its MPI_Init to its end. "job" is the process id of its launcher, which `evenkeel
/// where` takes, "lowest rank" that of its lowest rank here. Jobs are found by the memory that their ranks
/// share: nothing runs in the background for this, and the jobs do not notice.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel ps                                 which jobs there are
  evenkeel ps --json                          the same for programs
  evenkeel where 4711                         where each rank of one of them is")]
pub struct PsArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
