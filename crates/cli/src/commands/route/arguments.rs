//! The command line of `evenkeel route`.

use super::application::ApplicationArguments;
use super::check::CheckArguments;
use super::compare::CompareArguments;
use super::compute::ComputeArguments;
use super::generate::GenerateArguments;
use super::plan::PlanArguments;
use super::reconfigure::ReconfigureArguments;
use super::simulate::SimulateArguments;
use clap::{Args, Subcommand};

/// Compute, prove and compare forwarding tables for irregular networks, and simulate traffic on them
///
/// The tables are for OpenSM, the subnet manager of InfiniBand: shorter paths than its own engines find, and
/// free of deadlock without virtual lanes. Every table is proved before it is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ibnetdiscover > net.topo
  evenkeel route compute net.topo --lfts tables.lfts      tables for opensm -R file -U tables.lfts
  evenkeel route check net.topo opensm-lfts.dump          are the current tables right?
  evenkeel route compare net.topo                         all schemes, and OpenSM's engines
  evenkeel route simulate net.topo                        latency and throughput under traffic")]
pub struct RouteArguments {
    /// What is to be done.
    #[command(subcommand)]
    pub command: RouteCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
#[allow(
    missing_docs,
    reason = "clap prefers a variant's comment to that of the arguments, which is the help text"
)]
pub enum RouteCommand {
    Generate(Box<GenerateArguments>),
    Compute(Box<ComputeArguments>),
    Check(Box<CheckArguments>),
    Compare(Box<CompareArguments>),
    Simulate(Box<SimulateArguments>),
    Plan(PlanArguments),
    Reconfigure(ReconfigureArguments),
    Application(ApplicationArguments),
}
