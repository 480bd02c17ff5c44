//! The command line of `evenkeel route compare`.

use crate::commands::route::table_scheme::TableScheme;
use crate::commands::value_parsers::whole;
use clap::Args;
use std::path::PathBuf;

/// Compare all schemes on networks, and OpenSM's engines where OpenSM is installed
///
/// OpenSM's engines run on a network that ibsim simulates (Debian packages opensm, ibsim-utils). Their time
/// is that of a whole sweep: reading the network, computing and setting the tables.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel route compare net.topo
  evenkeel route compare net.topo torus.topo --opensm none            without OpenSM's engines
  evenkeel route compare net.topo --scheme ascending --scheme dfs --opensm nue,updn,minhop
  evenkeel route compare *.topo --json results.json")]
pub struct CompareArguments {
    /// What `ibnetdiscover` printed, or lists of cables
    #[arg(value_name = "NET", required = true)]
    pub networks: Vec<PathBuf>,
    /// Only these schemes; may be given several times [all that suit the network]
    #[arg(long, value_enum, value_name = "NAME")]
    pub scheme: Vec<TableScheme>,
    /// Engines of OpenSM: minhop, updn, dnup, nue, sssp, dfsssp, lash, ftree, or none [minhop,updn,nue,sssp
    /// if OpenSM is installed]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub opensm: Option<Vec<String>>,
    /// Have ibdmchk check all tables too, as OpenSM sets them (takes the Debian package ibutils)
    #[arg(long)]
    pub ibdmchk: bool,
    /// Write all figures to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The seed of what is random
    #[arg(long, default_value_t = 1, value_name = "N")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub seed: u64,
    /// Longest time that OpenSM may take for one network, in seconds
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub limit: u64,
}
