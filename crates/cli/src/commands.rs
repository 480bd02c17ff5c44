//! The command line's grammar. The options of the engine come from the one table that the environment and the
//! docs are made from too.

pub mod doctor;
pub mod manual;
pub mod model;
pub mod noise;
pub mod report;
pub mod route;
pub mod run;
pub mod schedule;
pub mod simulate;
pub mod tune;

use crate::commands::schedule::arguments::Schedule;
use crate::inject::injection::Spec;
use crate::program::mpi::Wanted;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Parser, Subcommand, ValueEnum, value_parser};
use evenkeel_options::{self as options, OptionSpec};
use std::path::PathBuf;

const ABOUT: &str = "Runs MPI programs, unmodified, so that a rank that stalls does not stall the others.";

const EXAMPLES: &str = "\
Examples:
  evenkeel run -n 16 -- ./app input.dat       run it; a summary at the end says who waited for whom
  evenkeel run -n 4 -- python3 script.py      Python with mpi4py
  evenkeel doctor ./app                       what works here, and what of this program is covered
  evenkeel noise                              how this machine disturbs programs
  evenkeel simulate dissemination             collective operations on machines that are not there
  evenkeel model measure                      what signals and messages cost on this machine
  evenkeel tune                               find the best barriers for this machine
  evenkeel schedule list                      the collective algorithms, and what they cost
  evenkeel route compute net.topo --lfts FILE better forwarding tables for OpenSM, free of deadlock
  evenkeel run -n 16 --report run.json -- ./app && evenkeel report run.json --html run.html
  mpirun -n 16 $(evenkeel env ./app) ./app    your own launcher line

Exit codes: the program's own once it runs; 2 wrong usage, 125 evenkeel could not start it, 126 it cannot be
executed, 127 it was not found. Each comes with a sentence on standard error that begins with `evenkeel:`.";

#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, about = ABOUT, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Task,
}

#[derive(Debug, Subcommand)]
pub enum Task {
    Run(Box<Run>),
    Env(Box<Env>),
    Doctor(Doctor),
    Report(Report),
    Noise(Noise),
    Simulate(Box<crate::commands::simulate::arguments::Simulate>),
    Tune(Box<crate::commands::tune::arguments::Tune>),
    Model(crate::commands::model::arguments::Model),
    Schedule(Schedule),
    Route(crate::commands::route::command::Route),
    Completions(Completions),
    Man(Man),
    #[command(hide = true)]
    Options(OptionsTable),
    #[command(hide = true)]
    DoctorPeer(DoctorPeer),
    #[command(hide = true)]
    Injector(Injector),
}

/// Run an MPI program under evenkeel
///
/// Finds out which MPI the program is linked with (for scripts: what their interpreter loads), takes
/// that MPI's own launcher, and has it start the ranks with evenkeel's shim preloaded. The program is
/// not changed in any way.
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
pub struct Run {
    /// Number of ranks
    #[arg(short = 'n', long = "ranks", value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub ranks: u32,
    #[command(flatten)]
    pub choice: Choice,
    /// Further arguments for the launcher, as one word: '--hostfile hosts'
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub launcher_args: Vec<String>,
    /// Disturb the run on purpose; may be given several times [competitors=N, doubled,
    /// stalls=exp:10ms/100ms, quota=50%]
    ///
    /// To see what ranks that do not respond cost, and what evenkeel saves. All of it ends with the run.
    ///
    /// competitors=N: N busy threads on each core.
    ///
    /// doubled: the ranks get half of the cores, so that twice as many share one.
    ///
    /// stalls=LENGTH/INTERVAL[,seed=N][,ranks=LIST]: each rank stops again and again (SIGSTOP) for a random
    /// LENGTH, after a random INTERVAL. exp:10ms is a mean of 10 ms, exponentially distributed; uniform:
    /// and fixed: are the others. The same seed makes the same lengths and intervals.
    ///
    /// quota=50%: all ranks together get half of the cores' time, and nothing once that is used up (a
    /// control group, for which one must be allowed to make some).
    #[arg(long, value_name = "SPEC")]
    pub inject: Vec<Spec>,
    /// Print the launcher's command line instead of running it
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub options: TableOptions,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM", num_args = 1..)]
    pub program: Vec<String>,
}

/// Which MPI and which launcher, where the user knows better.
#[derive(Debug, clap::Args)]
pub struct Choice {
    /// The program's MPI, if looking at the program cannot tell
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub mpi: Wanted,
    /// The launcher to use instead of the one that belongs to the MPI: a path, or srun
    #[arg(long, value_name = "PATH")]
    pub launcher: Option<String>,
}

/// Print what makes your own launcher line run under evenkeel
///
/// Prints arguments that hand the ranks their shim and options: -x for Open MPI, -genv for MPICH and
/// Intel MPI, --export for srun; or, with --format shell, lines to be evaluated by a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mpirun -n 16 $(evenkeel env ./app) ./app
  mpiexec -n 16 $(evenkeel env --mpi mpich --wait yield) ./app
  srun -n 16 $(evenkeel env --launcher srun ./app) ./app
  eval \"$(evenkeel env --format shell ./app)\"; mpirun -n 16 ./app")]
pub struct Env {
    #[command(flatten)]
    pub choice: Choice,
    /// Launcher arguments, or lines for a shell
    #[arg(long, value_enum, default_value = "args")]
    pub format: Format,
    #[command(flatten)]
    pub options: TableOptions,
    /// The program; needed to find out its MPI unless --mpi names one. For Python: python3, or the script
    pub program: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Args,
    Shell,
}

/// Say what evenkeel finds on this machine and what it can do for a program
///
/// Looks at MPI libraries and shims, cores and quotas, and tries each kernel feature that evenkeel
/// uses; says what it does without the missing ones. Exit code 0 if evenkeel can be used here (for the
/// program, if one is named), 1 if not.
#[derive(Debug, clap::Args)]
pub struct Doctor {
    /// A program to look at: an executable, a script, or python3
    pub program: Option<String>,
}

/// Print the summary of a recorded run again, or make a page of it
#[derive(Debug, clap::Args)]
pub struct Report {
    /// What `evenkeel run --report FILE` has written
    pub record: PathBuf,
    /// Write a self-contained HTML page with plots to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Measure how often, and for how long, this machine does not respond
///
/// Runs on every core at once, as the ranks of a job would. For half of the time it does the same small
/// piece of work over and over: what a piece takes longer than the fastest one is a delay. For the
/// other half it only looks at the clock: what passes between two looks is a gap. Beside both it counts
/// context switches, and says for each length of delays and gaps how they go together with them (r near
/// 1: it is the scheduler, another process ran; near 0: interrupts, the hypervisor, the processor's
/// clock). It also says how often the CPU quota was exceeded and what the hypervisor took.
///
/// A program that meets at barriers every quantum loses the longest delay of all its ranks each time;
/// what one core loses here is the least that such a program loses.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel noise                              ten seconds, quanta of a millisecond
  evenkeel noise --seconds 60 --html noise.html
  evenkeel noise --quantum-us 100             finer: delays of a few microseconds count
  evenkeel noise --cores 2-3                  two cores only
  evenkeel noise --json before.json           to be compared with another day, machine or kernel

Leave the machine as it is in everyday use: noise is what is to be seen.
To see what a program makes of noise, disturb it on purpose: evenkeel run --inject.")]
pub struct Noise {
    /// How long to measure
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = between::<20, 86_400_000>)]
    pub seconds: f64,
    /// How long a quantum of work takes when nothing disturbs
    #[arg(long, value_name = "MICROSECONDS", default_value = "1000", value_parser = between::<1_000, 1_000_000_000>)]
    pub quantum_us: f64,
    /// Gaps shorter than this are not counted
    #[arg(long, value_name = "MICROSECONDS", default_value = "1", value_parser = between::<100, 1_000_000_000>)]
    pub gap_us: f64,
    /// Which cores: 0-3,8. Without it, all that this process may use
    #[arg(long, value_name = "LIST", value_parser = core_list)]
    pub cores: Option<String>,
    /// Write all numbers to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a self-contained HTML page with plots to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write every gap, with when it was, to this file, for `evenkeel simulate --noise FILE`
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// A number between two thousandths.
pub fn between<const LEAST: u64, const MOST: u64>(text: &str) -> Result<f64, String> {
    let (least, most) = (LEAST as f64 / 1e3, MOST as f64 / 1e3);
    match text.parse::<f64>() {
        Ok(n) if n >= least && n <= most => Ok(n),
        _ => Err(format!("it must be a number between {least} and {most}")),
    }
}

pub(crate) fn core_list(text: &str) -> Result<String, String> {
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || "-,".contains(c));
    if plain && !crate::machine::limits::parse_list(text).is_empty() {
        Ok(text.into())
    } else {
        Err("it must be a list of cores like 0-3,8".into())
    }
}

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub struct Completions {
    pub shell: clap_complete::Shell,
}

/// Write the manual pages into a directory
#[derive(Debug, clap::Args)]
pub struct Man {
    pub directory: PathBuf,
}

/// Print the table of options for the book
#[derive(Debug, clap::Args)]
pub struct OptionsTable {
    #[arg(long)]
    pub markdown: bool,
}

/// The other process of the doctor's trials.
#[derive(Debug, clap::Args)]
pub struct DoctorPeer {
    #[command(subcommand)]
    pub role: PeerRole,
}

#[derive(Debug, Subcommand)]
pub enum PeerRole {
    /// Offers a memory file and some bytes, until its standard input ends.
    Offer,
    /// Tries to reach what another process offers.
    Reach { pid: i32, fd: i32, address: usize },
    /// Has one of its own system calls caught.
    Catch,
}

/// The process beside a run that disturbs it. Its standard input is a descriptor of the launcher's process.
#[derive(Debug, clap::Args)]
pub struct Injector {
    #[arg(long)]
    pub token: String,
    #[arg(long = "inject")]
    pub specs: Vec<Spec>,
    /// See `inject::mercy`.
    #[arg(long = "pipe")]
    pub pipes: Vec<i32>,
    /// To be removed at the end.
    #[arg(long)]
    pub group: Option<PathBuf>,
    /// It is no child of the launcher any more.
    #[arg(long)]
    pub detached: bool,
}

/// The values of options::ALL that were given: pairs of environment variable and value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOptions {
    pub given: Vec<(String, String)>,
}

impl Args for TableOptions {
    fn augment_args(command: Command) -> Command {
        options::ALL.iter().fold(command, |command, option| command.arg(argument(option)))
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TableOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut read = TableOptions::default();
        read.update_from_arg_matches(matches)?;
        Ok(read)
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for option in options::ALL {
            let value = match option.values {
                "MILLISECONDS" => matches.get_one::<u64>(option.name).map(u64::to_string),
                _ => matches.get_one::<String>(option.name).cloned(),
            };
            self.given.extend(value.map(|v| (option.env.to_string(), v)));
        }
        Ok(())
    }
}

/// One option of the table as an argument. A switch (`0|1`) may stand alone: `--quiet` is `--quiet=1`.
fn argument(option: &'static OptionSpec) -> Arg {
    let default = if option.default.is_empty() { "none" } else { option.default };
    let help = format!("{} [{}; default: {default}]", option.doc, option.env);
    let arg = Arg::new(option.name)
        .long(option.name)
        .help(first_sentence(option))
        .long_help(help)
        .help_heading("Options of the engine");
    match option.values {
        "0|1" => arg
            .value_name("0|1")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("1")
            .value_parser(PossibleValuesParser::new(["0", "1"])),
        "MILLISECONDS" => arg.value_name("MILLISECONDS").value_parser(value_parser!(u64)),
        values if values.contains('|') => {
            let choices: Vec<&'static str> = values.split('|').collect();
            arg.value_name(option.values)
                .hide_possible_values(true)
                .value_parser(PossibleValuesParser::new(choices))
        }
        _ => arg.value_name(option.values),
    }
}

fn first_sentence(option: &OptionSpec) -> String {
    let end = option.doc.find([':', ';', '.']).unwrap_or(option.doc.len());
    format!("{} [{}]", &option.doc[..end], option.env)
}
