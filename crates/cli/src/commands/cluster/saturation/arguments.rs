//! The command line of `evenkeel cluster saturation`.

use crate::commands::cluster::machine::MachineArguments;
use crate::commands::cluster::policies::policy_parser;
use crate::commands::value_parsers::{between, whole};
use evenkeel_cluster_sim::Policy;
use std::path::PathBuf;

/// Find the load that each policy carries, with confidence intervals
///
/// Workloads as of `evenkeel cluster workload` offer more and more work. carried: the work that was done
/// until the last submission, as a share of what the cores could do. Work that could not be done by then
/// even on cores of its own from its submission on counts as done. A policy is saturated where it carries
/// less than is offered. keeps up: the share of seeds in which less than 0.05 was put off. Each policy gets
/// the same jobs. ± is half of the 95% confidence interval over seeds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel cluster saturation
  evenkeel cluster saturation --seeds 30 --loads 0.7,0.8,0.9,1,1.2 --plot load.svg --json load.json
  evenkeel cluster saturation --cores 10000 --jobs 500 --policies easy,gs")]
pub struct SaturationArguments {
    /// Loads that are offered, ascending
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.6,0.7,0.8,0.9,1,1.2")]
    #[arg(value_parser = between::<1, 10_000>)]
    pub loads: Vec<f64>,
    /// Jobs that arrive
    #[arg(long, value_name = "N", default_value = "1000", value_parser = whole::<usize>(2..=1_000_000))]
    pub jobs: usize,
    /// Policies
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "fcfs,easy,gs,fcs")]
    #[arg(value_parser = policy_parser())]
    pub policies: Vec<Policy>,
    /// How many workloads of different random numbers
    #[arg(long, value_name = "N", default_value = "5", value_parser = whole::<u64>(1..=10_000))]
    pub seeds: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>(0..))]
    pub seed: u64,
    /// Simulations at a time [as many as there are cores]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..))]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub machine: MachineArguments,
    /// Draw carried load and response against the load that is offered to this file (SVG)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Write all numbers to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
}
