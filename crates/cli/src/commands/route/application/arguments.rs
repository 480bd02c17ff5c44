//! The command line of `evenkeel route application`.

use crate::commands::route::parallel_runs::ParallelRuns;
use crate::commands::value_parsers::whole;
use evenkeel_switch_sim::application::{ApplicationCore, Fabric};
use std::path::PathBuf;

/// Run application cores on models of three fabrics with 256 hosts, and see how long messages take
///
/// Cores: token (round a ring), fan-in (all to one), fan-out (one to all), mesh and torus (exchange with
/// neighbours, ten iterations without a barrier). Fabrics: myrinet (a torus of wormhole switches), ethernet
/// (a star of store-and-forward switches), avici (a router of line cards), avici-fabric (the same without
/// Ethernet ports).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel route application                                        all cores on all fabrics
  evenkeel route application --core mesh --bytes 32,512,2048 --plot latency.svg
  evenkeel route application --core torus --fabric myrinet --seeds 10 --json record.json")]
pub struct ApplicationArguments {
    /// A core; may be given several times [all]
    #[arg(long, value_name = "NAME")]
    pub core: Vec<ApplicationCore>,
    /// A fabric; may be given several times [all]
    #[arg(long, value_name = "NAME")]
    pub fabric: Vec<Fabric>,
    /// Sizes of messages [1 for token, else 2048]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    #[arg(value_parser = whole::<u32>(1..=1 << 24))]
    pub bytes: Vec<u32>,
    /// Runs with different random numbers; figures are means over them
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u32>(1..=1000))]
    pub seeds: u32,
    /// --threads and --json.
    #[command(flatten)]
    pub runs: ParallelRuns,
    /// Draw the distributions of latency, and when hosts are done with each iteration (SVG)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}
