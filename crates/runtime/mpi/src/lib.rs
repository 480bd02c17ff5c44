//! The engine's C interface for the MPI shims: the boundary between C and Rust.
//!
//! The C header, `shims/include/evenkeel.h`, is generated from the functions and types here and from the
//! engine's description of a call, so the doc comments here are the interface's documentation. There is one
//! module for each thing that a shim deals with: [`world`] (start and end), [`nodes`] (agents of several
//! nodes), [`communicator`], [`collective`], [`request`] (nonblocking collectives), [`deferral`] (deferred
//! barriers), [`message`] (point-to-point messages), [`host_message`] (those that are left to the host),
//! [`type_map`] (where the bytes of datatypes lie), [`pause`] (the shim's own waits), [`call_line`] (the call
//! that this process is in), [`trace`] (what a repetition of the run needs) and [`record`] (the report at
//! the end). [`codes`] has the return codes that say more than yes or no.
//!
//! May use: engine, layout, segment, options, output-file, record, report, trace. Must never: know an
//! MPI handle, which only the shims do (`shims/src`), or decide anything that the engine could decide.

mod call_line;
mod codes;
mod collective;
mod communicator;
mod deferral;
#[cfg(test)]
mod header;
mod host_message;
mod message;
mod nodes;
mod pause;
mod record;
mod request;
mod text;
mod trace;
mod type_map;
mod world;
