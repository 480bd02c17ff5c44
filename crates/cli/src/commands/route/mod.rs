//! `evenkeel route`: forwarding tables for irregular networks, and how they perform under traffic.
//!
//! Each subcommand has a folder. They share: [`network_file`] reads networks and tables, [`table_scheme`]
//! computes tables, [`figures`] describes them, [`opensm`] runs OpenSM on a simulated subnet,
//! [`parallel_runs`] holds the arguments of simulations that run beside each other.

mod application;
mod arguments;
mod check;
mod command;
mod compare;
mod compute;
mod figures;
mod generate;
mod network_file;
mod opensm;
mod parallel_runs;
mod plan;
mod reconfigure;
mod simulate;
mod table_scheme;

pub use arguments::{RouteArguments, RouteCommand};
pub use command::route;
