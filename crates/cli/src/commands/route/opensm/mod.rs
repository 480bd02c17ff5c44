//! OpenSM on a simulated network: ibsim plays the switches, so that nothing needs hardware or privileges.
//!
//! [`programs`] finds what is installed, [`subnet`] is a network that ibsim plays, on which OpenSM sweeps,
//! and [`credit_loops`] asks ibdmchk what it finds in tables.

mod credit_loops;
mod programs;
mod subnet;

pub use credit_loops::CreditLoops;
pub use programs::{OpenSm, scratch_directory};
pub use subnet::{SWEEP_LIMIT, SweepRequest};
