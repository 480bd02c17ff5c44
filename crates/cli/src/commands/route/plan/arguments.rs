//! The command line of `evenkeel route plan`.

use crate::commands::value_parsers::whole;
use std::path::PathBuf;

/// Plan how a changed network gets new tables without stopping traffic
///
/// Prints steps of table updates. Within a step, updates may reach the switches in any order: no path is lost
/// and nothing can deadlock, no matter which updates have arrived. This is proved for each step. Begin the
/// next step when the last update has arrived everywhere and the packets under way have arrived.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel route plan old.topo opensm-lfts.dump new.topo
                                              how many steps it takes, and what each changes
  evenkeel route plan old.topo opensm-lfts.dump new.topo --out steps
                                              steps/1.lfts, steps/2.lfts, …: after each step
  evenkeel route plan old.topo opensm-lfts.dump new.topo --through-opensm
                                              rehearse it first (takes opensm and ibsim)

OpenSM reads its file of tables again when it gets SIGHUP. If it was started with
opensm -R file -U current.lfts:
  cp steps/1.lfts current.lfts; kill -HUP $(pidof opensm)     then steps/2.lfts, and so on

NEWNET is the network during the plan: without what has failed or will be unplugged, and with what was \
added.")]
pub struct PlanArguments {
    /// The network that the current tables were made for
    #[arg(value_name = "NET")]
    pub network: PathBuf,
    /// The current tables, as OpenSM dumps them
    #[arg(value_name = "LFTS")]
    pub lfts: PathBuf,
    /// The network as it is now
    #[arg(value_name = "NEWNET")]
    pub new_network: PathBuf,
    /// Steps that may be spent on shortening paths once all paths are there
    #[arg(long, default_value_t = 2, value_name = "N")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub improve: u32,
    /// Write the tables after each step to files in this directory, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Have OpenSM carry the plan out on a simulated network, and check the tables that exist on the way
    ///
    /// Sets the current tables, then for each step some random mixtures of old and new entries, then the
    /// tables after the step. Compares what the switches get, and asks evenkeel's checker, and ibdmchk where
    /// all paths are there, for rings of waiting packets. The exit code is 1 if anything differs or a ring is
    /// found.
    #[arg(long)]
    pub through_opensm: bool,
    /// Random mixtures of each step's old and new entries that --through-opensm checks
    #[arg(long, default_value_t = 2, value_name = "N", requires = "through_opensm")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub mixtures: u32,
    /// The seed of the random mixtures
    #[arg(long, default_value_t = 1, value_name = "N", requires = "through_opensm")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub seed: u64,
    /// Write the changes of each step to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
