//! The grammar of `evenkeel tune`.

use clap::{Subcommand, value_parser};
use std::path::PathBuf;

/// Find the best barriers for this machine, and write a table of them
///
/// For each number of ranks: lists the barrier algorithms that are worth a look, leaves out what a
/// simulation says is far off, starts that many processes and has them hold barriers with evenkeel's
/// engine, in the built-in way and by each schedule, in short turns one after the other. What is far
/// behind drops out; the best few meet the built-in way again for as long.
///
/// A schedule is taken only if it is clearly faster: if the 99.9% interval of the ratio of its turns to
/// the built-in way's lies below 0.98, and does so again among processes that are started anew.
/// Otherwise the built-in way stays.
///
/// `evenkeel run` uses the table from then on, if it lies in the usual place or is named with --table,
/// for communicators with as many ranks and cores as were measured. It goes for strict barriers
/// (--barrier strict; those that may be left pending go by no schedule) of programs with one thread in
/// MPI. `evenkeel doctor` tells which table is in use; --table none runs without one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel tune                               2, 4, 8 and 16 ranks, and as many as there are cores; a minute
  evenkeel tune --ranks 32 --time-limit 20    one number of ranks; the table's other entries stay
  evenkeel tune --dry-run --all --json found.json
                                              look only: what every barrier takes, with predictions beside
  evenkeel tune --table here.json && evenkeel run -n 16 --barrier strict --table here.json -- ./app

Leave the machine alone meanwhile. On a machine that is never quiet the answer is more often that the built-in way stays.")]
#[command(args_conflicts_with_subcommands = true)]
pub struct Tune {
    #[command(subcommand)]
    pub act: Option<Act>,
    /// Numbers of ranks: 4,16. Without it 2, 4, 8, 16 and the number of cores
    #[arg(short = 'n', long, value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u32).range(2..=512))]
    pub ranks: Vec<u32>,
    /// How long to measure, all numbers of ranks together
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = crate::commands::between::<100, 86_400_000>)]
    pub time_limit: f64,
    /// Parameters for the predictions: a name of `evenkeel model list`, or a file that `evenkeel model
    /// measure` has written
    #[arg(long, value_name = "PARAMETERS", default_value = "two-core-vm")]
    pub machine: String,
    /// Where to write the table; what it says of other cases stays. Without it, the usual place
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Write all that was tried to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Measure all, and drop nothing that is far behind: to see what each costs
    #[arg(long)]
    pub all: bool,
    /// Write no table
    #[arg(long)]
    pub dry_run: bool,
    /// The orders of turns are random, and the same for the same seed
    #[arg(long, value_name = "SEED", default_value = "1")]
    pub seed: u64,
}

#[derive(Debug, Subcommand)]
pub enum Act {
    #[command(hide = true)]
    Rank(Rank),
}

/// A rank of a measurement. What it is to do comes on standard input.
#[derive(Debug, clap::Args)]
pub struct Rank {
    pub starter: u32,
}
