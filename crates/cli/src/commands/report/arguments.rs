//! The command line of `evenkeel report`.

use std::path::PathBuf;

/// Print the summary of a recorded run again, or make a page of it
///
/// A record is what `evenkeel run --report FILE` has written. The page shows over time which ranks waited for
/// which; it is one file that needs no network.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel run -n 16 --report run.json -- ./app
  evenkeel report run.json                    the summary once more, as wide as this terminal
  evenkeel report run.json --html run.html    a page with plots, to be opened in a browser")]
pub struct ReportArguments {
    /// What `evenkeel run --report FILE` has written
    pub record: PathBuf,
    /// Write a self-contained HTML page with plots to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}
