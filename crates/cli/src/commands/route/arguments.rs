//! The command line of `evenkeel route generate`, `compute`, `check` and `compare`.

use super::table_scheme::TableScheme;
use clap::{Args, Subcommand, value_parser};
use std::path::PathBuf;

/// Make a network, by rule or by chance
///
/// Writes what `ibnetdiscover` would print; ibsim reads it too. The same arguments give the same
/// network on every machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel route generate irregular --switches 64 --degree 6 --end-nodes 4 --seed 1 > net.topo
  evenkeel route generate fat-tree --children 12,24 --parents 1,12 --cut 6 > faulty.topo
  evenkeel route generate torus --sizes 4,4,4 --end-nodes 2 > torus.topo
  evenkeel route generate dragonfly --groups 9 --switches 4 --global 2 --end-nodes 2 > dragonfly.topo

--cut and --dead take random cables and switches away, and what is left is connected.")]
pub struct Generate {
    #[command(subcommand)]
    pub kind: Kind,
    /// What chance is drawn from
    #[arg(long, default_value_t = 1, value_name = "N", global = true)]
    pub seed: u64,
    /// Random cables to take away
    #[arg(long, default_value_t = 0, value_name = "N", global = true)]
    pub cut: usize,
    /// Random switches to take away
    #[arg(long, default_value_t = 0, value_name = "N", global = true)]
    pub dead: usize,
    /// Write a plain list of cables instead
    #[arg(long, global = true)]
    pub edges: bool,
    /// Write to this file [standard output]
    #[arg(long, short, value_name = "FILE", global = true)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Kind {
    /// Random cables between switches, as in the literature on networks of workstations
    Irregular {
        #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000))]
        switches: u32,
        /// Ports of each switch for other switches
        #[arg(long, value_name = "N")]
        degree: usize,
        /// End nodes at each switch
        #[arg(long, value_name = "N", default_value_t = 4)]
        end_nodes: usize,
        /// Two switches may have several cables between them
        #[arg(long)]
        parallel: bool,
    },
    /// Groups that are irregular inside, and joined irregularly
    Hierarchical {
        #[arg(long, value_name = "N")]
        groups: usize,
        /// Switches of each group
        #[arg(long, value_name = "N")]
        switches: usize,
        /// Ports of each switch for others of its group
        #[arg(long, value_name = "N")]
        degree: usize,
        /// Cables from each group to others
        #[arg(long, value_name = "N")]
        uplinks: usize,
        #[arg(long, value_name = "N", default_value_t = 4)]
        end_nodes: usize,
    },
    /// An extended generalized fat tree
    FatTree {
        /// Children of a node at each level, from the switches of the end nodes up
        #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
        children: Vec<usize>,
        /// Parents of a node at each level, from the end nodes up; the first is 1
        #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
        parents: Vec<usize>,
    },
    /// A torus, or a mesh, of any number of dimensions
    Torus {
        /// Switches along each dimension
        #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
        sizes: Vec<usize>,
        /// Do not join the ends: a mesh
        #[arg(long)]
        mesh: bool,
        /// Cables between neighbours
        #[arg(long, value_name = "N", default_value_t = 1)]
        cables: usize,
        #[arg(long, value_name = "N", default_value_t = 4)]
        end_nodes: usize,
    },
    /// Groups of switches that are all joined, all joined
    Dragonfly {
        #[arg(long, value_name = "N")]
        groups: usize,
        /// Switches of each group
        #[arg(long, value_name = "N")]
        switches: usize,
        /// Cables from each switch to other groups
        #[arg(long, value_name = "N")]
        global: usize,
        #[arg(long, value_name = "N", default_value_t = 4)]
        end_nodes: usize,
    },
}

/// Compute forwarding tables for a network, proved free of deadlock
///
/// Reads a network, computes tables, has them proved by a checker that knows nothing of how they were
/// made, and writes them for OpenSM. A channel is one direction of a cable between switches; the load
/// of a channel is the number of ordered pairs of end nodes whose path uses it; hops are channels on a
/// path.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ibnetdiscover > net.topo
  evenkeel route compute net.topo --lfts tables.lfts
  opensm -R file -U tables.lfts                       OpenSM gives the switches these tables
  evenkeel route compute net.topo --scheme dfs        what another scheme would do
  evenkeel route compute net.topo --lanes 2           two lanes: see --lanes

OpenSM does not compute other tables when a cable fails. Compute again then, and send it SIGHUP: it reads the file anew. `evenkeel route plan` leads there without stopping traffic.")]
pub struct Compute {
    /// What `ibnetdiscover` printed, or a list of cables
    #[arg(value_name = "NET")]
    pub network: PathBuf,
    /// How to route
    #[arg(long, value_enum, default_value = "ascending", value_name = "NAME")]
    pub scheme: TableScheme,
    /// Lanes (virtual lanes) that packets may be spread over; the destination decides
    ///
    /// Each lane is free of deadlock by itself, and paths become shorter with every lane. OpenSM's file of
    /// tables cannot say lanes: with more than one, the service level that each destination needs is in the
    /// record (--json), and senders have to be told it.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = value_parser!(u8).range(1..=15))]
    pub lanes: u8,
    /// Write the tables to this file, for opensm -R file -U FILE
    #[arg(long, value_name = "FILE")]
    pub lfts: Option<PathBuf>,
    /// Write the same as source routes: for each switch and destination the ports on the way
    #[arg(long, value_name = "FILE")]
    pub source_routes: Option<PathBuf>,
    /// Write what was found to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// What chance is drawn from
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// How much to search: 2 takes about twice as long as 1
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub effort: f64,
}

/// Prove forwarding tables, or say what is wrong with them
///
/// Walks every path. Tables are right if all end nodes reach each other and no packets can wait for
/// each other in a ring. A ring is named link by link. The exit code is 1 if the tables are wrong.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel route check net.topo tables.lfts
  evenkeel route check net.topo /var/log/opensm-lfts.dump      what OpenSM computed (opensm -D 0x43)
  evenkeel route check net.topo tables.lfts --everything       packets from and to switches too
  evenkeel route check net.topo tables.lfts --through-opensm   does OpenSM set them as they are? (takes opensm and ibsim)")]
pub struct Check {
    #[arg(value_name = "NET")]
    pub network: PathBuf,
    /// Tables as OpenSM, dump_fts or `evenkeel route compute` write them
    #[arg(value_name = "LFTS")]
    pub lfts: PathBuf,
    /// Count packets from every switch to every end node and switch, not those between end nodes only
    #[arg(long)]
    pub everything: bool,
    /// Have OpenSM load the tables on a simulated network, and compare what the switches get
    #[arg(long)]
    pub through_opensm: bool,
    /// Write what was found to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Compare all schemes on networks, and OpenSM's engines where OpenSM is installed
///
/// For OpenSM's engines ibsim plays the network (Debian packages opensm, ibsim-utils). Their time is
/// that of a whole sweep: reading the network, computing and setting the tables.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel route compare net.topo
  evenkeel route compare net.topo torus.topo --scheme ascending --scheme dfs --opensm nue,updn,minhop --json results.json")]
pub struct Compare {
    #[arg(value_name = "NET", required = true)]
    pub networks: Vec<PathBuf>,
    /// Only these schemes; may be given several times [all that suit the network]
    #[arg(long, value_enum, value_name = "NAME")]
    pub scheme: Vec<TableScheme>,
    /// Engines of OpenSM: minhop, updn, dnup, nue, sssp, dfsssp, lash, ftree, or none [minhop,updn,nue,sssp
    /// if OpenSM is installed]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub opensm: Option<Vec<String>>,
    /// Have ibdmchk judge all tables as well, as OpenSM sets them (takes the Debian package ibutils)
    #[arg(long)]
    pub ibdmchk: bool,
    /// Write what was found to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// What chance is drawn from
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Longest time that OpenSM may take for one network, in seconds
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    pub limit: u64,
}
