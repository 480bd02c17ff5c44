//! Between nodes: messages, puts into another node's memory with a flag after the data, and atomics on
//! that memory.
//!
//! [`Wire`] is one node's end, and says what may be relied upon. There are three of them: [`ucx`] for
//! real networks, over whatever the UCX library finds (InfiniBand, RoCE, shared memory, TCP), loaded at
//! run time so that evenkeel also runs without it; [`segment_wire`] for "nodes" that are processes of one
//! machine; and [`virtual_network`], in one process and in virtual time, with delay, loss, duplication,
//! overtaking, partitions, slow and dead nodes, the same for the same seed. All pass the same tests
//! (`tests/conformance.rs`).
//!
//! May use: libc, the segment, UCX through the dynamic loader. Must never know what a message means,
//! wait without a bound, or take a node for dead because it is slow: it says when the *network* gave a
//! node up, everything else is for those above.
//!
//! ```
//! use evenkeel_fabric::virtual_network::{Faults, Network};
//! use evenkeel_fabric::{Event, NodeId, Wire};
//!
//! let (network, mut wires) = Network::new(2, 4096, Faults::none(), 1);
//! let done = wires[0].put(NodeId(1), 64, b"data", Some((0, 7))).unwrap(); // 7 at offset 0, after the data
//! while network.step().is_some() {}
//! assert_eq!(wires[0].poll(), Some(Event::Done { ticket: done, fetched: 0 }));
//! assert_eq!(wires[1].memory().load(0), 7);
//! assert_eq!(wires[1].memory().bytes(64, 4), b"data");
//! ```

pub mod memory;

pub mod segment_wire;
pub mod ucx;
pub mod virtual_network;
pub mod wire;

pub use memory::Memory;
pub use segment_wire::SegmentWire;
pub use wire::{Atomic, Event, NodeId, Ticket, Trouble, Wire};
