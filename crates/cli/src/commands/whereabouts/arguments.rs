//! The command line of `evenkeel where`.

use crate::commands::value_parsers::whole;
use crate::jobs::stacks::StackChoice;

/// Say why a job hangs: where each rank is, and which ranks hold up the others
///
/// For each rank of a job that runs under evenkeel: the MPI call that it waits in, with its
/// communicator, peer and tag, or what it does outside MPI. Then, in sentences: which rank has not called the
/// collective in which the others wait, and what it does instead; which ranks wait for each other.
///
/// "deadlock" is said only if it is proved: each of these ranks waits for others among them, and no message
/// is under way that could free one. Where that cannot be known, the sentence says why.
///
/// With --stacks also: the call stacks of the ranks that hold up others, with functions and lines of C, C++,
/// Fortran and Python. Each of these ranks stands still for some microseconds, with Python for some
/// milliseconds. Where the kernel forbids that, a sentence says why, and the rest is shown.
///
/// Ranks on other machines are looked at, too, if the job has some there: the same program is started there
/// by a remote shell that must not ask for a password. That is the one that the launcher was told to use; in
/// an allocation of Slurm's srun; else ssh. Machines that cannot be reached are named.
///
/// The job does not notice that it is looked at. Times are known of collectives that evenkeel carries out; of
/// calls that the MPI library carries out it is only known that they last longer than this command looks.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel where                              the only job that you run here
  evenkeel ps                                 which jobs there are
  evenkeel where 4711                         by the process id of its launcher or of any rank
  evenkeel where --stacks                     and which functions these ranks are in
  evenkeel where --stacks=all                 and which functions all ranks are in
  evenkeel where --json                       the same for programs
  evenkeel where --hosts a,b                  a job on these machines, seen from another one

Exit codes: 0 if the job could be looked at, whatever it does; 125 if not.")]
pub struct WhereArguments {
    /// The job: process id of its launcher, of one of its ranks, or of a process that has started them
    /// [default: the only job]
    #[arg(value_name = "JOB")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub job: Option<u32>,
    /// Show the call stacks of the ranks that hold up others [holding, all]
    ///
    /// holding: of ranks that hold up others; if no rank is known to, of all. all: of all ranks. Of the MPI
    /// library only the call is shown that the program has made.
    #[arg(long, value_name = "RANKS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "holding", hide_possible_values = true)]
    pub stacks: Option<StackChoice>,
    /// Look on these machines for the ranks [default: those of the job, if it has ranks on this one]
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    pub hosts: Vec<String>,
    /// How to start this program on another machine, as for `ssh`; or with %h in place of the machine's name
    ///
    /// It must pass standard input on, and not ask for a password. The words of a command follow behind the
    /// machine's name, quoted for the shell there. With %h they
    /// follow as they are, as for `srun --nodelist=%h` or `kubectl exec -i %h --`. EVENKEEL_REMOTE_SHELL does
    /// the same.
    #[arg(long, value_name = "COMMAND")]
    pub remote_shell: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Answer `evenkeel where` on another machine, by lines on standard input and output
#[derive(Debug, clap::Args)]
pub struct RespondArguments {}
