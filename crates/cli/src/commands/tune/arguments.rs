//! The command line of `evenkeel tune`.

use crate::commands::value_parsers::{between, whole};
use clap::Subcommand;
use std::path::PathBuf;

/// Find the fastest barriers for this machine, and write a table of them
///
/// For each number of ranks: lists the barrier algorithms that are worth a try, leaves out those that a
/// simulation predicts to be far slower, starts that many processes, and has them run barriers with
/// evenkeel's engine, the built-in one and each schedule, in short turns one after the other. A schedule that
/// is far slower is dropped. The best few are compared with the built-in barrier again, for as long.
///
/// A schedule is chosen only if it is clearly faster: if the 99.9% interval of the ratio of its turns to
/// those of the built-in barrier lies below 0.98, and lies there again among processes that were started
/// anew. Otherwise the built-in barrier stays.
///
/// `evenkeel run` uses the table from then on, if it lies where it is written by default or is named with
/// --table, for communicators with as many ranks and cores as were measured. The table is for strict barriers
/// (--barrier strict; barriers that may be pending use no schedule) of programs with one thread in MPI.
/// `evenkeel doctor` shows which table is in use; --table none runs without one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel tune                               2 to 16 ranks, and one per core; a minute
  evenkeel tune --ranks 32 --time-limit 20    one number of ranks; the table's other entries stay
  evenkeel tune --dry-run --all --json found.json
                                              only measure all barriers
  evenkeel tune --table here.json && evenkeel run -n 16 --barrier strict --table here.json -- ./app

Let nothing else run meanwhile. On a machine that is never quiet the built-in barrier stays more often.")]
#[command(args_conflicts_with_subcommands = true)]
pub struct TuneArguments {
    /// A hidden command.
    #[command(subcommand)]
    pub command: Option<TuneCommand>,
    /// Numbers of ranks: 4,16. Without it 2, 4, 8, 16 and the number of cores
    #[arg(short = 'n', long, value_name = "LIST", value_delimiter = ',')]
    #[arg(value_parser = whole::<u32>(2..=512))]
    pub ranks: Vec<u32>,
    /// How long to measure, all numbers of ranks together
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = between::<100, 86_400_000>)]
    pub time_limit: f64,
    /// Parameters for the predictions: a name of `evenkeel model list`, or a file that `evenkeel model
    /// measure` has written
    #[arg(long, value_name = "PARAMETERS", default_value = "two-core-vm")]
    pub machine: String,
    /// Where to write the table; its other entries stay. Without it evenkeel/table.json in
    /// $XDG_CONFIG_HOME or ~/.config, where `evenkeel run` looks for it
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Write everything that was tried to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Measure all schedules to the end, also slow ones, to see what each costs
    #[arg(long)]
    pub all: bool,
    /// Write no table
    #[arg(long)]
    pub dry_run: bool,
    /// The orders of turns are random, and the same for the same seed
    #[arg(long, value_name = "SEED", default_value = "1")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub seed: u64,
}

/// The hidden command of `evenkeel tune`.
#[derive(Debug, Subcommand)]
pub enum TuneCommand {
    /// A rank of a measurement. Its task comes on standard input.
    #[command(hide = true)]
    Rank {
        /// The process that has started it.
        #[arg(value_parser = whole::<u32>(0..))]
        starter: u32,
    },
}
