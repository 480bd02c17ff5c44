//! The command line of `evenkeel debug`.

use std::path::PathBuf;

/// Show which rank waited for which in a recorded run, and why, on a page or as a text
///
/// The run must have been recorded with `evenkeel run --trace DIRECTORY --trace-level times`. The page is
/// served on this machine only, at an address that contains a secret, until it is ended there or with Ctrl-C.
/// It shows the calls of all ranks over time, why each wait took as long as it did, the critical path,
/// supersteps, and which ranks exchange messages. Of a run with `--trace-level checks` it also shows what
/// `evenkeel check` finds.
///
/// With two traces it says at which call each rank differs first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel run --trace t --trace-level times -n 16 -- ./app
  evenkeel debug t                    open the page
  evenkeel debug t --text             the longest waits, the critical path and supersteps, as a text
  evenkeel debug t u                  and where the calls of another run differ first
  evenkeel debug t --port 8900 --no-open     for a browser elsewhere: ssh -L 8900:127.0.0.1:8900 …")]
pub struct DebugArguments {
    /// The folder of the trace
    #[arg(value_name = "DIRECTORY")]
    pub trace: PathBuf,
    /// The folder of another trace, to be compared with the first
    #[arg(value_name = "OTHER")]
    pub other: Option<PathBuf>,
    /// Print the answers and end, without a page
    #[arg(long)]
    pub text: bool,
    /// The port of the page [default: any that is free]
    #[arg(long, value_name = "PORT", conflicts_with = "text")]
    pub port: Option<u16>,
    /// Print the address only, and do not open a browser
    #[arg(long, conflicts_with = "text")]
    pub no_open: bool,
}
