//! The command line of `evenkeel exec`.

use crate::commands::option_values;
use crate::commands::value_parsers::whole;
use crate::launch::hosts::DEFAULT_FANOUT;
use crate::launch::sending::SendArguments;
use evenkeel_options::{self as options, OptionSpec};
use std::ffi::OsString;
use std::path::PathBuf;

/// What is in front of each line of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LabelChoice {
    /// The host if there are several, else nothing
    Auto,
    /// The host, in brackets
    Host,
    /// Nothing
    No,
}

/// Who reads standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ExecStdin {
    /// The first process of the first host
    First,
    /// The first process of every host
    All,
    /// No process
    None,
}

/// Run a command on several hosts, and end all of it together
///
/// Nothing has to be installed or running there. One process per host is started by a remote shell that must
/// not ask for a password: that of --remote-shell; else what launchers were told to use; in an allocation of
/// Slurm's srun; else ssh. evenkeel's own program goes through it first where it is missing or another build,
/// and is kept in ~/.cache/evenkeel there. Everything else goes over TLS, with keys for this job alone.
///
/// The command gets the environment and the working directory of this one. Whole lines of its output come
/// here. Whatever it starts ends with it; when this command ends, however it does, and when a host or the
/// network fails, nothing is left on any host.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel exec --hosts a,b,c -- uptime
  evenkeel exec --hosts a,b,c -n 4 -- ./worker         four processes on each host
  evenkeel exec --hosts a,b --stdin all -- tar x <files.tar
  evenkeel exec --hosts a,b --send-program --send input.dat -- ./worker input.dat
  evenkeel exec --hosts a,b --keep-going -- grep -c model /proc/cpuinfo
  evenkeel exec --hosts a --remote-shell 'ssh -p 2222' -- ./app

Exit codes: 0 if all processes end with 0; else that of the one that failed first, 128 plus the number of \
the signal that ended it, or 1 if a host was lost; 125 if nothing was started. After Ctrl-C and the like \
this command ends by the same signal.")]
pub struct ExecArguments {
    /// The hosts, and how many processes each gets where that is not -n [EVENKEEL_HOSTS]
    #[arg(long, value_name = "HOST[:N],…")]
    pub hosts: Option<String>,
    /// Number of processes on each host
    #[arg(short = 'n', long = "per-host", value_name = "N", default_value_t = 1)]
    #[arg(value_parser = whole::<u32>(1..=65_536))]
    pub per_host: u32,
    /// What is in front of each line of output
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub label: LabelChoice,
    /// Who reads standard input
    #[arg(long, value_name = "WHO", default_value = "first")]
    pub stdin: ExecStdin,
    /// Go on when a process fails. The exit code is that of the first one in both cases
    #[arg(long)]
    pub keep_going: bool,
    /// How long the other processes may go on after one has failed
    ///
    /// Then they get SIGTERM, and after four times as long SIGKILL. After Ctrl-C or SIGTERM, processes also
    /// have four times as long; a second Ctrl-C kills them at once. When a host is lost, all are killed at
    /// once.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 500)]
    #[arg(value_parser = whole::<u64>(0..=3_600_000))]
    pub grace: u64,
    /// Run in this directory of each host [default: the working directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub chdir: Option<PathBuf>,
    /// What is sent to the hosts first
    #[command(flatten)]
    pub sending: SendArguments,
    /// How many hosts are reached from one host. Where there are more, those that have been reached reach the
    /// others, as a tree
    #[arg(long, value_name = "N", default_value_t = DEFAULT_FANOUT, value_parser = whole::<usize>(1..=4096))]
    pub fanout: usize,
    /// How to start a process on another host, as for `ssh`; or with %h in place of the host's name
    /// [EVENKEEL_REMOTE_SHELL]
    #[arg(long, value_name = "COMMAND")]
    pub remote_shell: Option<String>,
    /// How long a host may be silent before it counts as lost [EVENKEEL_NODE_PATIENCE_MS; default: 2000]
    #[arg(long, value_name = "MILLISECONDS", value_parser = value_of(&options::NODE_PATIENCE_MS))]
    pub node_patience: Option<String>,
    /// The network over which hosts reach each other: auto, any, an interface or a network
    /// [EVENKEEL_NETWORK]
    #[arg(long, value_name = "NETWORK", value_parser = value_of(&options::NETWORK))]
    pub network: Option<String>,
    /// The ports on which hosts may listen, for firewalls [EVENKEEL_PORTS]
    #[arg(long, value_name = "FIRST-LAST", value_parser = value_of(&options::PORTS))]
    pub ports: Option<String>,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND", num_args = 1..)]
    pub command: Vec<OsString>,
}

/// A parser of an option's values.
fn value_of(
    option: &'static OptionSpec,
) -> impl Fn(&str) -> Result<String, option_values::OptionValueError> + Clone + Send + Sync + 'static {
    move |value| option_values::check(option, value).map(|()| value.to_string())
}

/// Be the node of this host
///
/// Started through a remote shell by `evenkeel exec` and `evenkeel run --hosts`.
#[derive(Debug, clap::Args)]
pub struct HostNodeArguments {
    /// The build of evenkeel that is wanted
    pub build: String,
    /// Where to listen
    pub network: String,
    /// On which ports
    pub ports: String,
}
