//! The command line of `evenkeel cluster scenario`.

use crate::commands::cluster::machine::SwitchingArguments;
use crate::commands::cluster::policies::policy_parser;
use clap::ValueEnum;
use evenkeel_cluster_sim::Policy;
use evenkeel_cluster_sim::Scenario;
use std::path::PathBuf;

/// A scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScenarioName {
    /// Two equal jobs
    Balanced,
    /// Two jobs, of which each has ranks that compute twice as long
    Imbalanced,
    /// A job that leaves half of its cores idle, and three that fit there
    Complementing,
    /// A balanced job and the two of the imbalanced scenario
    Mixed,
}

impl ScenarioName {
    /// The scenario.
    pub fn scenario(self) -> Scenario {
        Scenario::ALL[self as usize]
    }
}

/// Simulate four small workloads on four cores, and show published results beside them
///
/// Ranks compute 3 ms, then exchange messages in a ring. The published results are measurements on a cluster
/// of 2003 (Frachtenberg, tables 6.1 to 6.5). optimum: the work of the busiest core, which no policy can
/// undercut. classes: those of flexible coscheduling, for each rank of each job: c coscheduled (CS), f
/// frustrated (F), d don't care (DC).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel cluster scenario
  evenkeel cluster scenario imbalanced mixed --policies gs,fcs --quantum 10ms --switch 50us
  evenkeel cluster scenario --policies bcs --overlap")]
pub struct ScenarioArguments {
    /// Scenarios [all]
    #[arg(value_name = "SCENARIO", value_enum)]
    pub scenarios: Vec<ScenarioName>,
    /// Policies [all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = policy_parser())]
    pub policies: Vec<Policy>,
    /// Ranks need a message one iteration later, so that messages travel while they compute
    #[arg(long)]
    pub overlap: bool,
    #[command(flatten)]
    pub switching: SwitchingArguments,
    /// Write all numbers to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
}
