//! Datagrams between the nodes of a job: each is encrypted and authenticated by itself, and all ranks of a
//! node send and receive them over one socket.
//!
//! A datagram is read whole or not at all, whichever process reads it. So ranks that take turns in reading
//! leave nothing half read, however they end: a rank that dies with a datagram that it has taken loses that
//! one, as the network may. What is sent must bear that: a datagram may come late, twice or never.
//!
//! May use: sockets, ring. Must never: know what a [frame](Frame) is for, wait without a bound, or use a byte
//! of a datagram before it is authenticated.

mod frame;
mod hand_over;
mod seal;
mod socket;

pub use frame::{Frame, MAX_FRAME_BYTES, MAX_STATEMENT_BYTES};
pub use hand_over::{HandOver, Name, take};
pub use seal::{MAX_DATAGRAM_BYTES, Sealer};
pub use socket::{Address, DatagramSocket, bind};
