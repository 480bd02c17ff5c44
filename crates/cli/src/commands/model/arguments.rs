//! The grammar of `evenkeel model`.

use clap::{Subcommand, ValueEnum, value_parser};
use evenkeel_model::measurement::ModelKind;
use std::path::PathBuf;

/// Measure what communication costs here, and compute what barriers cost under a model
///
/// A model says what a message takes: LogGP by constants (latency L, overheads o_s and o_r, gap g, gap
/// per byte G), LoP by functions of the number of peers that are addressed at once. With it the cost of
/// an algorithm can be computed before it is run.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel model measure --json here.json     this machine's shared memory
  evenkeel model measure --hosts a,b,c --json net.json
                                              the network between three hosts
  evenkeel model show here.json               what barriers would take on it
  evenkeel model show mozart-infiniband       a cluster of 2005
  evenkeel model list                         what is built in")]
pub struct Model {
    #[command(subcommand)]
    pub act: Act,
}

#[derive(Debug, Subcommand)]
pub enum Act {
    Measure(Measure),
    Show(Show),
    /// Name the sets of parameters that are built in
    List,
    #[command(hide = true)]
    Rank(Rank),
    /// A node of a measurement between hosts
    #[command(hide = true)]
    Node,
}

/// Measure the parameters of this machine's shared memory, or of the network between hosts
///
/// Without --hosts: starts processes, as the ranks of a job are, each held on a core, and has them
/// signal through memory that they share:
///
/// 1:n and back: rank 0 signals n peers, each answers; how long the signals take to post is o_s(n),
/// until all answers are there n·RTT(n). The same with the peers' own time stamps: when the last has
/// seen its signal, and how long after the last has answered rank 0 knows. n:1: rank 0 takes n signals
/// that are there already: o_r(n). A stream of signals to one peer: g. Messages of 1 B to 1 MiB there
/// and back: G. Two ranks on one core: what handing over the core takes.
///
/// All scenarios take turns, pass by pass, after a pause each; what comes back is checked. The numbers
/// are medians with 95% intervals. Parameters are fitted so that disturbed samples do not count, and
/// tried on what was held out.
///
/// Where there are more ranks than cores a rank has to be given a core before it can answer. Such times
/// are labelled, and kept apart from the others.
///
/// With --hosts: starts one process on each host through a remote shell, held on a core, and measures
/// the messages that agents use between them (UCX): 1:n and back from the first host, o_s(n) and
/// RTT(n); n:1, answers that have had time to come, o_r(n); a stream, g; messages of 16 B to 512 KiB
/// there and back, whose long ones give G. There are no stamps, because hosts have no common clock.
/// evenkeel has to lie at the same path on all hosts. Variables that begin with UCX_ are passed on:
/// UCX_NET_DEVICES says which network is meant.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel model measure
  evenkeel model measure --json here.json --svg here.svg
  evenkeel model measure --ranks 32 --model lop --json here.json
  evenkeel model measure --cores 0-3          four cores only

Between hosts, with ssh, and in an allocation of Slurm:
  evenkeel model measure --hosts node1,node2,node3,node4 --json network.json
  evenkeel model measure --remote-shell 'srun --overlap -N1 -n1 -w' \
      --hosts $(scontrol show hostnames | paste -sd,) --json network.json
Then, with the nodes' own memory from a measurement without --hosts:
  evenkeel simulate dissemination --ranks 1024 --machine network.json \
      --node here.json --ranks-per-node 16

Leave the machine alone meanwhile: unlike `evenkeel noise`, this asks what the machine can do.")]
pub struct Measure {
    /// Ranks at most, rank 0 among them. Without it 16, or the number of cores if that is more, but not
    /// more than 64
    #[arg(short = 'n', long = "ranks", value_name = "N", value_parser = value_parser!(u16).range(2..=256))]
    pub ranks: Option<u16>,
    /// Measure the network between these hosts: a,b,c. The first takes the times
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["ranks", "cores"])]
    pub hosts: Vec<String>,
    /// What starts a command on a host: words that the host's name and the command can follow
    #[arg(long, value_name = "COMMAND", default_value = DEFAULT_SHELL, requires = "hosts")]
    pub remote_shell: String,
    /// Passes; more make the intervals narrower
    #[arg(long, value_name = "N", default_value = "20", value_parser = value_parser!(u16).range(2..=10_000))]
    pub passes: u16,
    /// Pause before each pass
    #[arg(long, value_name = "MICROSECONDS", default_value = "1000", value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub pause_us: u32,
    /// Which cores: 0-3,8. Without it, all that this process may use
    #[arg(long, value_name = "LIST", value_parser = crate::commands::core_list)]
    pub cores: Option<String>,
    /// Which model the file is to hold
    #[arg(long, value_enum, default_value = "loggp")]
    pub model: Which,
    /// What the parameters are called. Without it this-machine, or this-network
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Write parameters and all numbers to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a plot of what was measured and fitted to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Asks for no password: there may be nobody to type it.
const DEFAULT_SHELL: &str = "ssh -o BatchMode=yes -o ConnectTimeout=10";

impl Measure {
    /// What the parameters are to be called.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(if self.hosts.is_empty() { "this-machine" } else { "this-network" })
    }

    pub fn has_default_shell(&self) -> bool {
        self.remote_shell == DEFAULT_SHELL
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// Constants, of ranks that have a core each
    #[value(name = "loggp")]
    LogGp,
    /// Functions of the number of peers; where cores are shared, with the context switches in them
    #[value(name = "lop")]
    LoP,
}

impl From<Which> for ModelKind {
    fn from(which: Which) -> ModelKind {
        match which {
            Which::LogGp => ModelKind::LogGp,
            Which::LoP => ModelKind::LoP,
        }
    }
}

/// Show parameters, and what all barriers cost under them
///
/// The costs are closed forms for ranks that arrive at the same time and for a network without
/// contention: what is left when nothing goes wrong. Algorithms with an n are shown with the best one;
/// at most log2 of the ranks are worth considering.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel model show here.json
  evenkeel model show mozart-infiniband --ranks 64 --consecutive 5000
  evenkeel model show clic-fast-ethernet --ranks 256 --release linear
  evenkeel model show mozart-infiniband --node here.json --ranks-per-node 2

The last line puts ranks of a node on what was measured here, and nodes on that network.")]
pub struct Show {
    /// A built-in set (evenkeel model list), or a file that `evenkeel model measure --json` has written
    pub parameters: String,
    /// Ranks at most
    #[arg(short = 'n', long = "ranks", value_name = "N", default_value = "1024", value_parser = value_parser!(u32).range(2..))]
    pub ranks: u32,
    /// What ranks of one node have between them: another set or file
    #[arg(long, value_name = "PARAMETERS", requires = "ranks_per_node")]
    pub node: Option<String>,
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), requires = "node")]
    pub ranks_per_node: Option<u32>,
    /// How the rank that knows that all have come tells the others
    #[arg(long, value_enum, default_value = "binomial")]
    pub release: How,
    /// Charge the messages of a round one after the other, as the thesis does, instead of overlapped
    #[arg(long)]
    pub serialised: bool,
    /// LoP: barriers that follow each other and keep the pipelines warm
    #[arg(long, value_name = "N", default_value = "1", value_parser = value_parser!(u32).range(1..))]
    pub consecutive: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum How {
    /// One after the other
    Linear,
    /// Along a binomial tree
    Binomial,
    /// One message that reaches all
    Multicast,
}

impl From<How> for evenkeel_model::Release {
    fn from(how: How) -> Self {
        match how {
            How::Linear => Self::Linear,
            How::Binomial => Self::Binomial,
            How::Multicast => Self::Multicast,
        }
    }
}

/// A rank of a measurement. Its tasks come on standard input.
#[derive(Debug, clap::Args)]
pub struct Rank {
    pub pid: u32,
    pub descriptor: i32,
    pub token: u64,
    pub rank: usize,
}
