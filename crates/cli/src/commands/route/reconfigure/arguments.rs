//! The command line of `evenkeel route reconfigure`.

use crate::commands::route::parallel_runs::ParallelRuns;
use crate::commands::value_parsers::{number, whole};
use std::path::PathBuf;

/// Simulate what it costs to update all tables when a switch goes or comes back
///
/// Traffic uses minimal adaptive routing with up*/down* escape paths. Three protocols run between the
/// switches over the same channels: static (stop, collect, distribute), overlapped (topology task with
/// partial progressive reconfiguration), and planned (only the change is flooded, to switches that know the
/// rest).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel route reconfigure net.topo                      switch 0, the root, goes and comes back
  evenkeel route reconfigure net.topo --switch 5 --plot time.svg --json record.json
  evenkeel route reconfigure net.topo --loss 0.1           a tenth of the control messages is lost
  evenkeel route reconfigure net.topo --also 5 --apart 150 switch 5 follows after 150 cycles")]
pub struct ReconfigureArguments {
    /// What `ibnetdiscover` printed, or a list of cables
    #[arg(value_name = "NET")]
    pub network: PathBuf,
    /// The switch that goes and comes back
    #[arg(long, default_value_t = 0, value_name = "N")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub switch: u32,
    /// Other switches that go, and come back, soon after the first one. If tables are not up to date by then,
    /// all protocols continue as the static one does
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub also: Vec<u32>,
    /// Cycles from each of these switches to the next
    #[arg(long, default_value_t = 200, value_name = "CYCLES", requires = "also")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub apart: u64,
    /// Phits per cycle and host
    #[arg(long, default_value_t = 0.02, value_name = "LOAD")]
    #[arg(value_parser = number)]
    pub load: f64,
    /// Cycles before the switch goes, until it comes back, and after that
    #[arg(long, default_value_t = 20_000, value_name = "CYCLES")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub each: u64,
    /// Share of control messages that are lost and sent again
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    #[arg(value_parser = number)]
    pub loss: f64,
    /// The seed of what is random
    #[arg(long, default_value_t = 1, value_name = "N")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub seed: u64,
    /// --threads and --json.
    #[command(flatten)]
    pub runs: ParallelRuns,
    /// Draw latency and deliveries over time (SVG)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}
