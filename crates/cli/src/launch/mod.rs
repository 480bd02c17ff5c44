//! The parts of a run once its MPI is known: the shim that fits, the launcher, the environment of the ranks.
//!
//! May use: [`program`](crate::program) and [`errors`](crate::errors). Must never: start anything.

pub mod environment;
pub mod hosts;
pub mod launcher;
pub mod preparation;
pub mod sending;
pub mod shim;
pub mod trace_folder;
pub mod transports;
