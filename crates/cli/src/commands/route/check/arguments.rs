//! The command line of `evenkeel route check`.

use clap::Args;
use std::path::PathBuf;

/// Prove forwarding tables right, or say what is wrong with them
///
/// Follows every path. Tables are right if all end nodes reach each other and no packets can wait for each
/// other in a ring. A ring is named link by link. The exit code is 1 if the tables are wrong.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel route check net.topo tables.lfts
  evenkeel route check net.topo /var/log/opensm-lfts.dump      what OpenSM computed (opensm -D 0x43)
  evenkeel route check net.topo tables.lfts --everything       packets from and to switches too
  evenkeel route check net.topo tables.lfts --through-opensm   does OpenSM set them unchanged?

--through-opensm takes opensm and ibsim (Debian packages opensm, ibsim-utils).")]
pub struct CheckArguments {
    /// What `ibnetdiscover` printed, or a list of cables
    #[arg(value_name = "NET")]
    pub network: PathBuf,
    /// Tables as OpenSM, dump_fts or `evenkeel route compute` write them
    #[arg(value_name = "LFTS")]
    pub lfts: PathBuf,
    /// Count packets from every switch to every end node and switch, not only those between end nodes
    #[arg(long)]
    pub everything: bool,
    /// Have OpenSM load the tables on a simulated network, and compare what the switches get
    #[arg(long)]
    pub through_opensm: bool,
    /// Write all figures to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
