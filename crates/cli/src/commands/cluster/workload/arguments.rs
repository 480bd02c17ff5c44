//! The command line of `evenkeel cluster workload`.

use crate::commands::cluster::machine::MachineArguments;
use crate::commands::cluster::policies::policy_parser;
use crate::commands::value_parsers::{between, whole};
use evenkeel_cluster_sim::Policy;
use std::path::PathBuf;

/// Simulate jobs that arrive as on real machines, and compare policies
///
/// Arrivals, ranks and run times are those of the model of Lublin and Feitelson (2003); each job computes 5,
/// 50 or 500 ms between messages. All times are a hundredth of the model's. Each policy gets the same jobs.
///
/// response: from submission to end. slowdown: response over the run time on cores of its own, or over 0.1 s
/// for shorter jobs. With several seeds, numbers are means over seeds; ± is half of the 95% confidence
/// interval.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel cluster workload --load 0.7 --seeds 10
  evenkeel cluster workload --cores 1024 --jobs 500 --policies easy,gs
  evenkeel cluster workload --policies gs,fcs --quantum 100ms --slots 3 --json found.json")]
pub struct WorkloadArguments {
    /// Jobs that arrive
    #[arg(long, value_name = "N", default_value = "1000", value_parser = whole::<usize>(2..=1_000_000))]
    pub jobs: usize,
    /// The share of the cores that the jobs need: run times are stretched to it
    #[arg(long, value_name = "SHARE", default_value = "0.7", value_parser = between::<1, 10_000>)]
    pub load: f64,
    /// Policies
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "fcfs,easy,gs,fcs")]
    #[arg(value_parser = policy_parser())]
    pub policies: Vec<Policy>,
    /// How many workloads of different random numbers
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>(1..=10_000))]
    pub seeds: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>(0..))]
    pub seed: u64,
    /// Simulations at a time [as many as there are cores]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..))]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub machine: MachineArguments,
    /// Write all numbers to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
}
