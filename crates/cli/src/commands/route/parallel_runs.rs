//! What all simulations of fabrics are asked: how many at a time, and where what was measured goes.

use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;

/// Options of simulations that run beside each other.
#[derive(Debug, clap::Args)]
pub struct Runs {
    /// Simulations at a time [as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Write everything that was measured to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl Runs {
    /// How many at a time.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// On standard error, and only on a terminal.
pub fn progress_bar(runs: usize) -> ProgressBar {
    let bar = ProgressBar::new(runs as u64);
    bar.set_style(
        ProgressStyle::with_template("{spinner} simulating {bar:40} {pos} of {len} runs, {eta} left")
            .expect("a constant template"),
    );
    bar
}
