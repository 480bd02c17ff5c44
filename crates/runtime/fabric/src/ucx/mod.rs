//! The fabric over UCX. All traffic goes through UCX; a node has one worker.
//!
//! [`open`] makes this node's end and the [address](UnconnectedWire::address) that the others need: that
//! of the worker, and of the memory that they may write into. How addresses get around is not this
//! crate's business (the host MPI, PMIx, a file). [`UnconnectedWire::connect`] takes those of all nodes.
//!
//! UCX's own settings apply (`UCX_TLS`, `UCX_NET_DEVICES`, …). UCX starts a thread for connections, and
//! handles signals unless `UCX_ERROR_SIGNALS` is set to nothing. An agent can live with that; a rank,
//! less so.
//!
//! May use: UCX, through the dynamic loader. Must never: probe whether a node lives, or call UCX from two
//! threads.

mod connection;
pub mod ffi;
mod inbox;
mod library;
mod pending;
mod unconnected;
mod wire;
mod worker;

pub use library::{UcxError, UcxLibrary, library};
pub use unconnected::{UnconnectedWire, open};
pub use wire::UcxWire;

/// Settings for users whose messages are small pieces, such as agents. Messages are sent at once, since
/// fetching them would take one more round trip, and signals are left to their owners. Over TCP a piece of
/// 128 KiB and its head go in one segment.
pub const EAGER: [(&str, &str); 3] =
    [("ERROR_SIGNALS", ""), ("RNDV_THRESH", "inf"), ("TCP_RX_SEG_SIZE", "256k")];
