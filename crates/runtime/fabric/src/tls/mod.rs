//! The fabric over TLS 1.3 on TCP, for networks on which other processes can reach a node's port.
//!
//! Only nodes that know the [job's secret](evenkeel_secret::JobSecret) are listened to, and what they tell
//! each other is encrypted. How secrets and addresses get around is not this crate's business. [`open`] takes
//! a port, which does not listen yet, and gives the [address](UnconnectedWire::address) that the other nodes
//! need. [`UnconnectedWire::connect`] takes the secret and the addresses of all nodes, and listens where the
//! other nodes connect to.
//!
//! A connection begins with a [greeting](greeting) of fixed length, which shows that its sender knows the
//! secret. Then comes the handshake, in which each end shows that it has the private key of the node that it
//! says it is ([`identity`]). Only then is anything read of what it sends ([`frame`]).
//!
//! What another process can make a node spend is bounded: [`MAX_GREETING`] connections without a greeting,
//! for [`GREETING_TIME`] each, of which each costs a descriptor and 64 bytes; and [`MAX_HANDSHAKING`]
//! connections in a handshake, for [`HANDSHAKE_TIME`] each, of which each takes 200 KiB at most. The latter
//! needs a greeting that was recorded on the network. A node of the job makes this one keep one frame, one
//! message ([`MAX_MESSAGE_BYTES`]) and, while it takes nothing, [`MAX_UNSENT_BYTES`].
//!
//! May use: rustls, ring, sockets. Must never: use bytes of a connection before its other end is known, or
//! reserve memory for a length that it has not checked.

mod addresses;
mod connection;
mod connections;
mod frame;
mod greeting;
mod identity;
mod listener;
mod peer;
mod poller;
mod session;
#[cfg(test)]
mod tests;
mod unconnected;
mod wire;

pub use addresses::{NetworkChoice, NetworkChoiceError};
pub use connections::RefusedConnections;
pub use frame::MAX_MESSAGE_BYTES;
pub use unconnected::{TlsError, UnconnectedWire, open};
pub use wire::TlsWire;

use std::time::Duration;

/// Connections that have sent no greeting, at most. The oldest one makes room for another.
pub const MAX_GREETING: usize = 64;
/// Connections from other nodes that are in a handshake, at most; of one node, and of all.
pub const MAX_HANDSHAKING_OF_NODE: usize = 2;
/// See [`MAX_HANDSHAKING_OF_NODE`].
pub const MAX_HANDSHAKING: usize = 256;
/// How long a greeting may take.
pub const GREETING_TIME: Duration = Duration::from_secs(2);
/// How long connecting, greeting and handshake may take.
pub const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// Bytes that wait for one node at most. A node that takes nothing for longer is given up.
pub const MAX_UNSENT_BYTES: usize = 1 << 30;
