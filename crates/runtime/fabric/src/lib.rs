//! Between nodes: messages, puts into another node's memory with a flag after the data, and atomic operations
//! on that memory.
//!
//! [`Wire`] is one node's end of a fabric, and says what may be relied upon. It has four implementations:
//!
//! * [`ucx`] for real networks, over whatever the UCX library finds (InfiniBand, RoCE, shared memory,
//!   TCP). The library is loaded at run time, so that evenkeel also runs without it;
//! * [`tls`] for networks on which other processes may listen and speak: TLS over TCP, between nodes that
//!   share a secret;
//! * [`segment_wire`] for "nodes" that are processes of one machine;
//! * [`virtual_network`], in one process and in virtual time, with delay, loss, duplication, overtaking,
//!   partitions, frozen and dead nodes, the same for the same seed.
//!
//! All pass the same tests (`tests/conformance.rs`).
//!
//! May use: libc, the segment, UCX through the dynamic loader, rustls. Must never: know what a message means,
//! wait without a bound, or take a node for dead because it is slow. It reports when the *network* gave a
//! node up; everything else is for those above.
//!
//! ```
//! use evenkeel_fabric::virtual_network::{Faults, VirtualNetwork};
//! use evenkeel_fabric::{Event, NodeId, Wire, WordWrite};
//!
//! let (network, mut wires) = VirtualNetwork::new(2, 4096, Faults::none(), 1);
//! let flag = WordWrite { at: 0, value: 7 }; // stored after the data
//! let ticket = wires[0].put(NodeId(1), 64, b"data", Some(flag)).unwrap();
//! while network.step().is_some() {}
//! assert_eq!(wires[0].poll(), Some(Event::Completed { ticket, fetched: 0 }));
//! assert_eq!(wires[1].memory().load(0), 7);
//! assert_eq!(wires[1].memory().bytes(64, 4), b"data");
//! ```

mod memory;
mod node;
pub mod segment_wire;
pub mod tls;
pub mod ucx;
pub mod virtual_network;
mod wire;

pub use memory::{Atomic, Memory, WordWrite};
pub use node::NodeId;
pub use segment_wire::SegmentWire;
pub use wire::{Event, SleepingWire, Ticket, Wire, WireError};
