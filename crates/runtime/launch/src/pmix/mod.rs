//! The server of PMIx, by which ranks of Open MPI find each other. The protocol is `libpmix`'s business.
//!
//! `libpmix` carries the protocol out, in a thread of its own. It is loaded when a job needs it, so evenkeel
//! depends on no package. Its callbacks write fixed records into a pipe, which the event loop reads.

mod library;
mod server;

pub(crate) use server::{Request, Server};
