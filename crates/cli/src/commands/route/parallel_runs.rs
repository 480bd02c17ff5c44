//! Arguments of simulations that run beside each other.

use crate::commands::value_parsers::whole;
use std::path::PathBuf;

/// How many simulations run at a time, and where their numbers go.
#[derive(Debug, clap::Args)]
pub struct ParallelRuns {
    /// Simulations at a time [as many as there are cores]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = whole::<usize>(1..))]
    threads: Option<usize>,
    /// Write everything that was measured to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl ParallelRuns {
    /// How many simulations run at a time.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}
