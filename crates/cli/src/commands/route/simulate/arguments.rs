//! The command line of `evenkeel route simulate`.

use crate::commands::route::parallel_runs::ParallelRuns;
use crate::commands::value_parsers::{between, number, whole};
use clap::ValueEnum;
use evenkeel_switch_sim::{Length, Parameters, Pattern, Switching};
use std::path::PathBuf;

/// Simulate traffic on a network, phit by phit, to see how its tables perform
///
/// Takes networks as `ibnetdiscover` prints them (or lists of cables), routes them by the schemes that are
/// named, and raises the load until the network falls behind. Prints how much traffic each scheme accepts at
/// most, with 95% intervals over the seeds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel route simulate net.topo                          breadth-first and depth-first trees
  evenkeel route simulate net.topo --lfts opensm-lfts.dump  tables from a file
  evenkeel route simulate net.topo --scheme dfs --pattern transpose --length 32:512:0.75
  evenkeel route simulate net.topo --switching cut-through --scheme adaptive --plot c.svg
  evenkeel route simulate *.topo --seeds 5 --json record.json

Throughput is the most traffic that was accepted at any load, in phits per cycle and sending host. --warm-up \
and --precision say when counting begins and ends.")]
pub struct SimulateArguments {
    /// Networks: files that `ibnetdiscover` or `evenkeel route generate` wrote, or lists of cables
    #[arg(required = true, value_name = "NET")]
    pub networks: Vec<PathBuf>,
    /// How to route; may be given several times [bfs dfs, unless tables are given]
    #[arg(long, value_enum, value_name = "NAME")]
    pub scheme: Vec<RoutingScheme>,
    /// Forwarding tables to simulate too, as OpenSM dumps them; for a single network
    #[arg(long, value_name = "FILE")]
    pub lfts: Vec<PathBuf>,
    /// Engines of OpenSM to simulate too, run on a simulated subnet [nue, updn, minhop, ...]; takes the
    /// Debian packages opensm and ibsim-utils
    #[arg(long, value_name = "ENGINE")]
    pub opensm: Vec<String>,
    /// What schemes that order switches or channels make: one random shortest path for each pair (source), or
    /// balanced forwarding tables (table)
    #[arg(long, value_enum, default_value = "source")]
    pub paths: PathKind,
    /// When the head of a packet moves on to the next switch
    #[arg(long, value_enum, default_value = "wormhole")]
    pub switching: SwitchKind,
    /// Virtual lanes [1; 2 for cut-through]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub lanes: Option<u32>,
    /// Phits that a lane's buffer holds [80; for cut-through the longest packet]
    #[arg(long, value_name = "PHITS")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub buffer: Option<u32>,
    /// Cycles from the arrival of a head until it may get an output [23; 1 for cut-through]
    #[arg(long, value_name = "CYCLES")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub header_cycles: Option<u32>,
    /// Cycles for which each head occupies a switch's arbiter
    #[arg(long, value_name = "CYCLES", default_value_t = 1)]
    #[arg(value_parser = whole::<u32>(0..))]
    pub arbiter_cycles: u32,
    /// Which hosts send to which: uniform, bit-reversal, shuffle, transpose, local or local:LINKS
    #[arg(long, default_value = "uniform", value_name = "NAME")]
    pub pattern: Pattern,
    /// Phits of a message, or SHORT:LONG:SHARE_OF_SHORT
    #[arg(long, default_value = "32", value_name = "PHITS")]
    pub length: Length,
    /// Destinations of each message; the network interface makes the copies (multi-send)
    #[arg(long, default_value_t = 1, value_name = "N")]
    #[arg(value_parser = whole::<u32>(1..))]
    pub copies: u32,
    /// Loads in phits per cycle and host [raised by 1.2 until the network falls behind]
    #[arg(long, value_delimiter = ',', value_name = "LOAD")]
    #[arg(value_parser = number)]
    pub load: Vec<f64>,
    /// Runs with different random numbers; the intervals are over these
    #[arg(long, default_value_t = 3, value_name = "N")]
    #[arg(value_parser = whole::<u32>(1..))]
    pub seeds: u32,
    /// The first of these seeds
    #[arg(long, default_value_t = 1, value_name = "N")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub seed: u64,
    /// Cycles before anything is counted
    #[arg(long, default_value_t = 10_000, value_name = "CYCLES")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub warm_up: u64,
    /// A load is simulated until the 95% interval of its mean latency is this share of the latency, and that
    /// of the accepted traffic is a fifth of this share (10 to 40 batches of 2,000 cycles)
    #[arg(long, default_value_t = 0.05, value_name = "SHARE")]
    #[arg(value_parser = between::<1, 1000>)]
    pub precision: f64,
    /// --threads and --json.
    #[command(flatten)]
    pub runs: ParallelRuns,
    /// Draw latency against accepted traffic (SVG), for the first network
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Draw how busy each channel is at the highest load (SVG), for the first network
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
}

/// How packets are routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoutingScheme {
    /// up*/down* by a breadth-first tree from the switch with the lowest number (Autonet; MDST)
    Mdst,
    /// up*/down* by a breadth-first tree from the most central switch
    Bfs,
    /// up*/down* by the tree that a flood from a switch makes, drawn by the seed (POST)
    Post,
    /// up*/down* by the best depth-first tree
    Dfs,
    /// up*/down* by a genetic search among orders of the switches, for low loads
    Genetic,
    /// evenkeel's own: a search among the orders of the channels for short paths and low loads
    Ascending,
    /// any minimal path, with the depth-first tree as escape path; takes two lanes
    Adaptive,
}

impl RoutingScheme {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            RoutingScheme::Mdst => "mdst",
            RoutingScheme::Bfs => "bfs",
            RoutingScheme::Post => "post",
            RoutingScheme::Dfs => "dfs",
            RoutingScheme::Genetic => "genetic",
            RoutingScheme::Ascending => "ascending",
            RoutingScheme::Adaptive => "adaptive",
        }
    }
}

/// Where paths are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PathKind {
    /// By the sender
    Source,
    /// By each switch's forwarding table
    Table,
}

/// When the head of a packet moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SwitchKind {
    /// At once, and the packet stretches over several switches
    Wormhole,
    /// At once, and a packet that must wait is taken in whole
    CutThrough,
    /// When the whole packet has arrived
    StoreAndForward,
}

impl SimulateArguments {
    /// The switches' parameters: those of the papers, except those that were given.
    pub fn parameters(&self) -> Parameters {
        let usual = match self.switching {
            SwitchKind::Wormhole => Parameters::MYRINET,
            SwitchKind::CutThrough => {
                Parameters { buffer_phits: self.length.longest(), ..Parameters::CUT_THROUGH }
            }
            SwitchKind::StoreAndForward => Parameters {
                switching: Switching::StoreAndForward,
                buffer_phits: self.length.longest(),
                ..Parameters::CUT_THROUGH
            },
        };
        Parameters {
            lanes: self.lanes.unwrap_or(if self.scheme.contains(&RoutingScheme::Adaptive) {
                usual.lanes.max(2)
            } else {
                usual.lanes
            }),
            buffer_phits: self.buffer.unwrap_or(usual.buffer_phits),
            header_cycles: self.header_cycles.unwrap_or(usual.header_cycles),
            arbiter_cycles: self.arbiter_cycles,
            ..usual
        }
    }
}
