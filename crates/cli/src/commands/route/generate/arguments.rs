//! The command line of `evenkeel route generate`.

use crate::commands::value_parsers::whole;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Make a network, regular or random
///
/// Writes what `ibnetdiscover` would print; ibsim reads it too. The same arguments give the same
/// network on every machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel route generate irregular --switches 64 --degree 6 --end-nodes 4 --seed 1 > net.topo
  evenkeel route generate fat-tree --children 12,24 --parents 1,12 --cut 6 > faulty.topo
  evenkeel route generate torus --sizes 4,4,4 --end-nodes 2 > torus.topo
  evenkeel route generate dragonfly --groups 9 --switches 4 --global 2 --end-nodes 2 > d.topo

--cut and --dead take random cables and switches away; the rest stays connected.")]
pub struct GenerateArguments {
    /// The kind of network.
    #[command(subcommand)]
    pub topology: Topology,
    /// The seed of what is random
    #[arg(long, default_value_t = 1, value_name = "N", global = true)]
    #[arg(value_parser = whole::<u64>(0..))]
    pub seed: u64,
    /// Random cables to take away
    #[arg(long, default_value_t = 0, value_name = "N", global = true)]
    #[arg(value_parser = whole::<usize>(0..))]
    pub cut: usize,
    /// Random switches to take away
    #[arg(long, default_value_t = 0, value_name = "N", global = true)]
    #[arg(value_parser = whole::<usize>(0..))]
    pub dead: usize,
    /// Write a plain list of cables instead
    #[arg(long, global = true)]
    pub edges: bool,
    /// Write to this file [standard output]
    #[arg(long, short, value_name = "FILE", global = true)]
    pub output: Option<PathBuf>,
}

/// The kinds of network.
#[derive(Debug, Subcommand)]
pub enum Topology {
    /// Random cables between switches, as in the literature on networks of workstations
    Irregular {
        /// Number of switches
        #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=10_000))]
        switches: u32,
        /// Ports of each switch for other switches
        #[arg(long, value_name = "N")]
        #[arg(value_parser = whole::<usize>(0..))]
        degree: usize,
        /// End nodes at each switch
        #[arg(long, value_name = "N", default_value_t = 4)]
        #[arg(value_parser = whole::<usize>(0..))]
        end_nodes: usize,
        /// Two switches may have several cables between them
        #[arg(long)]
        parallel: bool,
    },
    /// Groups of switches that are joined irregularly, within a group and between groups
    Hierarchical {
        /// Number of groups
        #[arg(long, value_name = "N")]
        #[arg(value_parser = whole::<usize>(1..))]
        groups: usize,
        /// Switches of each group
        #[arg(long, value_name = "N")]
        #[arg(value_parser = whole::<usize>(1..))]
        switches: usize,
        /// Ports of each switch for others of its group
        #[arg(long, value_name = "N")]
        #[arg(value_parser = whole::<usize>(0..))]
        degree: usize,
        /// Cables from each group to others
        #[arg(long, value_name = "N")]
        #[arg(value_parser = whole::<usize>(0..))]
        uplinks: usize,
        /// End nodes at each switch
        #[arg(long, value_name = "N", default_value_t = 4)]
        #[arg(value_parser = whole::<usize>(0..))]
        end_nodes: usize,
    },
    /// An extended generalized fat tree
    FatTree {
        /// Children of a node at each level, from the switches of the end nodes up
        #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
        #[arg(value_parser = whole::<usize>(1..))]
        children: Vec<usize>,
        /// Parents of a node at each level, from the end nodes up; the first is 1
        #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
        #[arg(value_parser = whole::<usize>(1..))]
        parents: Vec<usize>,
    },
    /// A torus, or a mesh, of any number of dimensions
    Torus {
        /// Switches along each dimension
        #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
        #[arg(value_parser = whole::<usize>(1..))]
        sizes: Vec<usize>,
        /// Do not join the ends: a mesh
        #[arg(long)]
        mesh: bool,
        /// Cables between neighbours
        #[arg(long, value_name = "N", default_value_t = 1)]
        #[arg(value_parser = whole::<usize>(1..))]
        cables: usize,
        /// End nodes at each switch
        #[arg(long, value_name = "N", default_value_t = 4)]
        #[arg(value_parser = whole::<usize>(0..))]
        end_nodes: usize,
    },
    /// Groups of switches; within a group all switches are joined, and all groups are joined
    Dragonfly {
        /// Number of groups
        #[arg(long, value_name = "N")]
        #[arg(value_parser = whole::<usize>(1..))]
        groups: usize,
        /// Switches of each group
        #[arg(long, value_name = "N")]
        #[arg(value_parser = whole::<usize>(1..))]
        switches: usize,
        /// Cables from each switch to other groups
        #[arg(long, value_name = "N")]
        #[arg(value_parser = whole::<usize>(0..))]
        global: usize,
        /// End nodes at each switch
        #[arg(long, value_name = "N", default_value_t = 4)]
        #[arg(value_parser = whole::<usize>(0..))]
        end_nodes: usize,
    },
}
