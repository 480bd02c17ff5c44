//! The command line of `evenkeel env`.

use crate::commands::launch_arguments::{EngineOptions, MpiArguments};
use crate::commands::value_parsers::whole;
use clap::ValueEnum;
use std::ffi::OsString;

/// Print what makes your own launcher line run under evenkeel
///
/// Prints arguments that give the ranks their shim and options: -x for Open MPI, -genv for MPICH and Intel
/// MPI, --export for srun. With --format shell it prints lines for a shell to evaluate instead.
///
/// With -n the number of ranks is printed, too, and what Open MPI's mpirun needs for so many: it refuses more
/// ranks than there are cores (--oversubscribe), and binds ranks that evenkeel is to place (--bind-to none).
/// Without -n you say that yourself. `evenkeel run` does it in any case.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mpirun $(evenkeel env -n 16 ./app) ./app
  mpirun -n 16 --oversubscribe $(evenkeel env ./app) ./app
  mpiexec -n 16 $(evenkeel env --mpi mpich --wait yield) ./app
  srun -n 16 $(evenkeel env --launcher srun ./app) ./app
  eval \"$(evenkeel env -n 16 --format shell ./app)\"; mpirun -n 16 ./app")]
pub struct EnvArguments {
    /// Number of ranks: prints it for the launcher, with what so many ranks need
    ///
    /// With --format shell, only what they need is printed.
    #[arg(short = 'n', long = "ranks", value_name = "N", value_parser = whole::<u32>(1..))]
    pub ranks: Option<u32>,
    /// --mpi and --launcher.
    #[command(flatten)]
    pub mpi: MpiArguments,
    /// Launcher arguments, or lines for a shell
    #[arg(long, value_enum, default_value = "args")]
    pub format: EnvFormat,
    /// The options of the engine.
    #[command(flatten)]
    pub options: EngineOptions,
    /// The program, whose MPI is determined; may be left out with --mpi. For Python: python3, or the
    /// script
    pub program: Option<OsString>,
}

/// What `evenkeel env` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EnvFormat {
    /// Arguments for the launcher
    Args,
    /// Lines for a shell
    Shell,
}
