//! The command line of `evenkeel route compute`.

use crate::commands::route::table_scheme::TableScheme;
use crate::commands::value_parsers::{number, whole};
use clap::Args;
use std::path::PathBuf;

/// Compute forwarding tables for a network, proved free of deadlock
///
/// Reads a network, computes tables, has an independent checker prove them, and writes them for OpenSM. A
/// channel is one direction of a cable between switches. The load of a channel is the number of ordered pairs
/// of end nodes whose path uses it. Hops are channels on a path.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ibnetdiscover > net.topo
  evenkeel route compute net.topo --lfts tables.lfts
  opensm -R file -U tables.lfts                       OpenSM gives the switches these tables
  evenkeel route compute net.topo --scheme dfs        what another scheme gives
  evenkeel route compute net.topo --lanes 2           two virtual lanes: see --lanes

OpenSM does not compute other tables when a cable fails. Compute them again then and send OpenSM a SIGHUP, \
which makes it read the file again. `evenkeel route plan` leads from one set of tables to the next without \
stopping traffic.")]
pub struct ComputeArguments {
    /// What `ibnetdiscover` printed, or a list of cables
    #[arg(value_name = "NET")]
    pub network: PathBuf,
    /// How to route
    #[arg(long, value_enum, default_value = "ascending", value_name = "NAME")]
    pub scheme: TableScheme,
    /// Virtual lanes that packets may use; the destination decides which
    ///
    /// Each lane is free of deadlock by itself, and paths become shorter with every lane. OpenSM's file of
    /// tables cannot express lanes: with more than one, the record (--json) holds the service level that each
    /// destination needs, and senders must use it.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u8>(1..=15))]
    pub lanes: u8,
    /// Write the tables to this file, for opensm -R file -U FILE
    #[arg(long, value_name = "FILE")]
    pub lfts: Option<PathBuf>,
    /// Write the same as source routes: the ports on the way, for each switch and destination
    #[arg(long, value_name = "FILE")]
    pub source_routes: Option<PathBuf>,
    /// Write all figures to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The seed of what is random
    #[arg(long, default_value_t = 1, value_name = "N")]
    #[arg(value_parser = whole::<u64>(0..))]
    pub seed: u64,
    /// How much to search: 2 takes about twice as long as 1
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    #[arg(value_parser = number)]
    pub effort: f64,
}
