//! The fabric over UCX: everything that goes over the wire is UCX's, of which there is one worker a
//! node.
//!
//! [`open`] makes this node's end and the [address](Opened::address) that the others need: of the
//! worker, and of the memory that they may write into. How addresses get around is not this crate's
//! matter (the host MPI, PMIx, a file). [`Opened::connect`] takes those of all nodes. UCX's own
//! settings apply (`UCX_TLS`, `UCX_NET_DEVICES`, …). UCX starts a thread for connections, and handles
//! signals unless `UCX_ERROR_SIGNALS` is set to nothing: an agent can bear that, a rank less so.

pub mod ffi;
mod inbox;
mod library;
mod pending;
mod wire;
mod worker;

pub use library::{UcxError, library};
pub use wire::UcxWire;
pub use worker::{Opened, open};

/// Settings of those whose messages are small pieces, agents among them: sent at once, since to fetch
/// them would take one more round trip; and signals are left to their owners. Over TCP a piece of 128
/// KiB and its head go in one.
pub const EAGER: [(&str, &str); 3] =
    [("ERROR_SIGNALS", ""), ("RNDV_THRESH", "inf"), ("TCP_RX_SEG_SIZE", "256k")];
