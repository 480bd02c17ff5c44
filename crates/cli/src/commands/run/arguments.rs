//! The command line of `evenkeel run`.

use crate::commands::launch_arguments::{EngineOptions, MpiArguments};
use crate::commands::value_parsers::whole;
use crate::errors::LaunchError;
use crate::inject::injection::Injection;
use crate::launch::sending::SendArguments;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run an MPI program under evenkeel
///
/// Finds out which MPI the program is linked with (for scripts: what their interpreter loads), takes that
/// MPI's own launcher (mpirun or mpiexec), and has it start the ranks with a library of evenkeel's preloaded,
/// the shim, which takes the program's MPI calls. The program is not changed. At its end a summary on
/// standard error says which ranks waited for which.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel run -n 16 -- ./app input.dat
  evenkeel run -n 16 --wait yield --report run.json -- ./app
  evenkeel run -n 8 --launcher srun -- ./app
  evenkeel run -n 8 --launcher evenkeel --label -- ./app      start the ranks without mpiexec
  evenkeel run -n 8 --launcher evenkeel --hosts a,b -- ./app  and on several hosts
  evenkeel run -n 8 --launcher-args '--hostfile hosts' -- ./app
  evenkeel run -n 4 --mpi openmpi -- ./starts-mpi-programs.sh
  evenkeel run -n 4 --inject stalls=exp:10ms/100ms --inject competitors=1 -- ./app
  evenkeel run -n 16 --trace t -- ./app       record the run, for `evenkeel replay t`
  evenkeel run -n 4 --check -- ./app          say which MPI calls were wrong, and in which line
  evenkeel run -n 4 --timeout 10m -- ./app    a job that hangs says where, and is ended
  evenkeel run -n 4 --deadlock end -- ./app   a job in a deadlock says so at once, and is ended
  evenkeel run -n 4 --dry-run -- ./app        only show the launcher's command line")]
pub struct RunArguments {
    /// Number of ranks
    #[arg(short = 'n', long = "ranks", value_name = "N", value_parser = whole::<u32>(1..))]
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
    /// Say which MPI calls were wrong when the program has ended
    ///
    /// What each call passes and gets is recorded in a temporary folder, or in that of --trace, which must be
    /// one that all hosts share if there are several. The findings are printed to standard error, also if the
    /// program has crashed or hung. The exit code is the program's; 121 if it has succeeded and there are
    /// errors. `evenkeel check` says more.
    #[arg(long)]
    pub check: bool,
    /// Print the launcher's command line instead of running it
    #[arg(long)]
    pub dry_run: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    #[arg(num_args = 1..)]
    pub program: Vec<OsString>,
    /// How ranks are started with --launcher evenkeel. They have a heading, under which clap puts all that
    /// stands behind them and has none.
    #[command(flatten)]
    pub start: StartArguments,
    /// The options of the engine.
    #[command(flatten)]
    pub options: EngineOptions,
}

/// How long the other ranks may go on after one has failed, ms.
pub const DEFAULT_GRACE_MS: u64 = 500;

/// Who reads the standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StdinChoice {
    /// Rank 0
    #[value(name = "0")]
    First,
    /// No rank
    None,
}

/// How evenkeel starts ranks itself.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of --launcher evenkeel")]
pub struct StartArguments {
    /// Print each line of output with its rank in front: `[3] text`
    #[arg(long)]
    pub label: bool,
    /// Who reads standard input: rank 0, which is the default, or none
    #[arg(long, value_name = "RANK")]
    pub stdin: Option<StdinChoice>,
    /// Go on when a rank fails, for programs that survive this
    ///
    /// Without it the job ends when a rank exits with a code other than 0, is killed, or exits between
    /// MPI_Init and MPI_Finalize. The exit code is that of the rank that failed first in both cases.
    #[arg(long)]
    pub keep_going: bool,
    /// How long the other ranks may go on after one has failed [default: 500]
    ///
    /// Then they get SIGTERM, and after four times as long SIGKILL. After Ctrl-C or SIGTERM, ranks also have
    /// four times as long; a second Ctrl-C kills them at once.
    #[arg(long, value_name = "MILLISECONDS", value_parser = whole::<u64>(0..=3_600_000))]
    pub grace: Option<u64>,
    /// With --hosts: how many hosts are reached from one host [default: 16]
    ///
    /// Where there are more, those that have been reached reach the others, as a tree.
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=4096))]
    pub fanout: Option<usize>,
    /// With --hosts: run in this directory of each host [default: the working directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub chdir: Option<PathBuf>,
    /// What is sent to the hosts first
    #[command(flatten)]
    pub sending: SendArguments,
}

impl StartArguments {
    /// Refuses options that another launcher would not know. `is_for_hosts`: evenkeel was to start the ranks
    /// on hosts, and Open MPI's launcher does.
    pub fn refuse(&self, is_for_hosts: bool) -> Result<(), LaunchError> {
        let given = [
            ("--label", self.label),
            ("--stdin", self.stdin.is_some()),
            ("--keep-going", self.keep_going),
            ("--grace", self.grace.is_some()),
            ("--chdir", self.chdir.is_some()),
            ("--send and --send-program", self.sending.is_given()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) if is_for_hosts => Err(LaunchError::NotForOpenMpi { option }),
            Some((option, _)) => Err(LaunchError::OnlyOwnLauncher { option }),
            None => Ok(()),
        }
    }
}
