//! The command line of `evenkeel cluster`.

use super::saturation::SaturationArguments;
use super::scenario::ScenarioArguments;
use super::workload::WorkloadArguments;
use clap::{Args, Subcommand};

/// Simulate how jobs share a cluster: batch, gang scheduling, flexible coscheduling
///
/// Jobs compute and communicate in virtual time, on 32 to 100,000 cores, under seven policies:
///
/// fcfs: batch, first come first served. easy: batch with backfilling. gs: gang scheduling; all ranks of a
/// job run at the same time, and jobs take turns. sb: no turns; ranks that wait leave their core. fcs:
/// flexible coscheduling; ranks that do not profit from turns give them to others. bcs, pbcs: buffered
/// coscheduling; messages wait for the end of short time slices, and with pbcs a job has priority.
///
/// The same command gives the same numbers on every machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel cluster scenario                               four workloads, beside published results
  evenkeel cluster workload --cores 1024 --load 0.8       jobs that arrive as on real machines
  evenkeel cluster saturation --seeds 10 --plot load.svg  which load does a policy carry?")]
pub struct ClusterArguments {
    /// What is to be done.
    #[command(subcommand)]
    pub command: ClusterCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
#[allow(
    missing_docs,
    reason = "clap prefers a variant's comment to that of the arguments, which is the help text"
)]
pub enum ClusterCommand {
    Scenario(ScenarioArguments),
    Workload(WorkloadArguments),
    Saturation(SaturationArguments),
}
