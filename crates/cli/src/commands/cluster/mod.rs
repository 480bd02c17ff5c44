//! `evenkeel cluster`: how jobs share a cluster, in virtual time.
//!
//! Each subcommand has a folder. They share: [`policies`] names policies, [`machine`] makes a cluster of the
//! arguments, [`parallel`] runs simulations beside each other, [`record`] is the frame of `--json`.

mod arguments;
mod command;
mod intervals;
mod machine;
mod parallel;
mod policies;
mod record;
mod saturation;
mod scenario;
mod workload;

pub use arguments::ClusterArguments;
pub use command::cluster;
