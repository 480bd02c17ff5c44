//! The command line of `evenkeel model`.

use super::measure::RankArguments;
use crate::commands::value_parsers::{core_list, whole};
use clap::{Subcommand, ValueEnum};
use evenkeel_model::measurement::ModelKind;
use std::path::PathBuf;

/// Measure what communication costs here, and compute what barriers cost under a model
///
/// A model gives the time of a message: LogGP by constants (latency L, overheads o_s and o_r, gap g, gap per
/// byte G), LoP by functions of the number of peers that are addressed at once. It predicts the cost of an
/// algorithm before the algorithm runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel model measure --json here.json     this machine's shared memory
  evenkeel model measure --hosts a,b,c --json net.json
                                              the network between three hosts
  evenkeel model show here.json               what barriers would take on it
  evenkeel model show mozart-infiniband       a cluster of 2005
  evenkeel model list                         the sets that are built in")]
pub struct ModelArguments {
    /// What is to be done.
    #[command(subcommand)]
    pub command: ModelCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
#[allow(
    missing_docs,
    reason = "clap prefers a variant's comment to that of the arguments, which is the help text"
)]
pub enum ModelCommand {
    Measure(MeasureArguments),
    Show(ShowArguments),
    /// List the sets of parameters that are built in
    List,
    /// A rank of a measurement. Its passes come on standard input.
    #[command(hide = true)]
    Rank(RankArguments),
    /// A node of a measurement between hosts.
    #[command(hide = true)]
    Node,
}

/// Measure the parameters of this machine's shared memory, or of the network between hosts
///
/// Without --hosts, evenkeel starts one process for each rank, holds it on a core, and has the processes
/// signal through shared memory.
///
/// 1:n and back: rank 0 signals n peers, and each answers. Posting the signals takes o_s(n). All answers have
/// arrived after n·RTT(n). The peers' time stamps tell when the last peer saw its signal, and how much later
/// rank 0 knew of the last answer. n:1: rank 0 takes n signals that have already arrived, which takes o_r(n).
/// A stream of signals to one peer gives g, messages of 1 B to 1 MiB there and back give G, and two ranks on
/// one core give the time of a context switch.
///
/// All scenarios take turns, pass by pass, each after a pause; all answers are checked. The numbers are
/// medians with 95% intervals. Parameters are fitted so that disturbed samples do not count, and tested on
/// samples that were held out.
///
/// Where there are more ranks than cores, a rank has to be scheduled before it can answer. Such times are
/// marked and kept apart from the others.
///
/// With --hosts, evenkeel starts one process on each host through a remote shell, holds it on a core, and
/// measures the messages that agents exchange (UCX): 1:n and back from the first host gives o_s(n) and
/// RTT(n); n:1, answers that have had time to arrive, gives o_r(n); a stream gives g; of messages of 16 B to
/// 512 KiB there and back, the long ones give G. There are no time stamps, because hosts have no common
/// clock. evenkeel must be installed at the same path on all hosts. Variables that begin with UCX_ are passed
/// on; UCX_NET_DEVICES selects the network.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel model measure
  evenkeel model measure --json here.json --svg here.svg
  evenkeel model measure --ranks 32 --model lop --json here.json
  evenkeel model measure --cores 0-3          four cores only

Between hosts, with ssh, and in an allocation of Slurm:
  evenkeel model measure --hosts node1,node2,node3,node4 --json network.json
  evenkeel model measure --remote-shell 'srun --overlap -N1 -n1 -w' \\
      --hosts $(scontrol show hostnames | paste -sd,) --json network.json
Then, with the nodes' own memory from a measurement without --hosts:
  evenkeel simulate dissemination --ranks 1024 --machine network.json \\
      --node here.json --ranks-per-node 16

Let nothing else run meanwhile: unlike `evenkeel noise`, this measures what the machine can do.")]
pub struct MeasureArguments {
    /// Ranks at most, rank 0 among them. Without it 16, or the number of cores if that is more, but not more
    /// than 64
    #[arg(short = 'n', long = "ranks", value_name = "N", value_parser = whole::<u16>(2..=256))]
    pub ranks: Option<u16>,
    /// Measure the network between these hosts: a,b,c. The first one takes the times
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["ranks", "cores"])]
    pub hosts: Vec<String>,
    /// What starts a command on a host: words that are followed by the host's name and the command
    #[arg(long, value_name = "COMMAND", default_value = DEFAULT_SHELL, requires = "hosts")]
    pub remote_shell: String,
    /// Passes; more passes make the intervals narrower
    #[arg(long, value_name = "N", default_value = "20", value_parser = whole::<u16>(2..=10_000))]
    pub passes: u16,
    /// Pause before each pass
    #[arg(long, value_name = "MICROSECONDS", default_value = "1000")]
    #[arg(value_parser = whole::<u32>(0..=1_000_000))]
    pub pause_us: u32,
    /// Which cores: 0-3,8. Without it, all that this process may use
    #[arg(long, value_name = "LIST", value_parser = core_list)]
    pub cores: Option<String>,
    /// The model whose parameters the file is to hold
    #[arg(long, value_enum, default_value = "loggp")]
    pub model: FittedModel,
    /// The name of the parameters. Without it this-machine, or this-network
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Write parameters and all numbers to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a plot of what was measured and fitted to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Asks for no password, because a script could not type it.
const DEFAULT_SHELL: &str = "ssh -o BatchMode=yes -o ConnectTimeout=10";

impl MeasureArguments {
    /// The name of the parameters.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(if self.hosts.is_empty() { "this-machine" } else { "this-network" })
    }

    /// Whether no other remote shell was asked for.
    pub fn has_default_shell(&self) -> bool {
        self.remote_shell == DEFAULT_SHELL
    }
}

/// The models that can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FittedModel {
    /// Constants, of ranks that have a core each
    #[value(name = "loggp")]
    LogGp,
    /// Functions of the number of peers; where cores are shared, they contain the context switches
    #[value(name = "lop")]
    LoP,
}

impl From<FittedModel> for ModelKind {
    fn from(model: FittedModel) -> ModelKind {
        match model {
            FittedModel::LogGp => ModelKind::LogGp,
            FittedModel::LoP => ModelKind::LoP,
        }
    }
}

/// Show parameters, and what all barriers cost under them
///
/// The costs are closed forms for ranks that arrive at the same time and for a network without contention.
/// Algorithms with an n are shown with the best one; at most log2 of the ranks are worth considering.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel model show here.json
  evenkeel model show mozart-infiniband --ranks 64 --consecutive 5000
  evenkeel model show clic-fast-ethernet --ranks 256 --release linear
  evenkeel model show mozart-infiniband --node here.json --ranks-per-node 2

The last line combines the memory that was measured here, within nodes, with that network between nodes.")]
pub struct ShowArguments {
    /// A built-in set (evenkeel model list), or a file that `evenkeel model measure --json` has written
    pub parameters: String,
    /// Ranks at most
    #[arg(short = 'n', long = "ranks", value_name = "N", default_value = "1024")]
    #[arg(value_parser = whole::<u32>(2..))]
    pub ranks: u32,
    /// What carries messages between ranks of one node: another set or file
    #[arg(long, value_name = "PARAMETERS", requires = "ranks_per_node")]
    pub node: Option<String>,
    /// Ranks of each node
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..), requires = "node")]
    pub ranks_per_node: Option<u32>,
    /// How the root, once all ranks have arrived, releases them
    #[arg(long, value_enum, default_value = "binomial")]
    pub release: ReleaseMethod,
    /// Charge the messages of a round one after the other, as the thesis does, instead of overlapped
    #[arg(long)]
    pub serialised: bool,
    /// LoP: barriers that follow each other and keep the pipelines warm
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u32>(1..))]
    pub consecutive: u32,
}

/// How ranks learn that all have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReleaseMethod {
    /// One after the other
    Linear,
    /// Along a binomial tree
    Binomial,
    /// One message that reaches all
    Multicast,
}

impl From<ReleaseMethod> for evenkeel_model::Release {
    fn from(method: ReleaseMethod) -> Self {
        match method {
            ReleaseMethod::Linear => Self::Linear,
            ReleaseMethod::Binomial => Self::Binomial,
            ReleaseMethod::Multicast => Self::Multicast,
        }
    }
}
