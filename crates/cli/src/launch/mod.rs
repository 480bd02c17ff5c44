//! The shim, the launcher and the environment of a run.

pub mod environment;
pub mod launcher;
pub mod shim;
