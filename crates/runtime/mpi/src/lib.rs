//! The engine's C interface for the MPI shims: `include/evenkeel.h` is its documentation.
//!
//! May use: engine, report, record, options. Must never know an MPI handle; that is the shims' part
//! (`../shim`).

mod collective;
mod deferral;
mod message;
mod nodes;
mod record;
mod world;
