//! The three global primitives on sets of nodes (Frachtenberg 2003, section 3.4), of which everything
//! that concerns a whole machine is built: launching, strobes, heartbeats, barriers.
//!
//! * `xfer_and_signal` writes a block at the same place of every node's memory, and signals an event
//!   there; it does not wait.
//! * `test_event` asks for an event of this node, or waits for it.
//! * `compare_and_write` compares a variable of every node with a value; if it holds on all, it writes
//!   another one on all. It waits, and answers yes or no.
//!
//! What holds, whatever the network does (lose, double, reorder, part) and whichever nodes stop or die:
//! an operation is carried out on all nodes of its set or on none; all operations, and reads through
//! [`Domain::read`], are as if carried out one after the other, each at one moment between its call and
//! its return (linearizable; the original demands sequential consistency); if several nodes'
//! comparisons compete, all see the same one win. A node that does not answer within the limit is
//! named, where the original stalls. If node 0, which orders operations, falls silent, the next that
//! lives does, unless half of the nodes or more are gone. What does not hold: that a node which cannot
//! reach any other that knows can read what it is in doubt about.
//!
//! Large data go ahead of their operation, from node to node of the set, and wait where nobody sees
//! them; what is ordered then is small.
//!
//! [`Machine`] is the protocol without I/O, [`Domain`] runs it on a [`Wire`](evenkeel_fabric::Wire).
//! May use: the fabric's interface. Must never know what is built above, look at a clock, or take the
//! network's word for a node's life.
//!
//! ```
//! use evenkeel_fabric::virtual_network::{Faults, VirtualNetwork};
//! use evenkeel_primitives::{Comparison, Domain, NodeSet, Settings};
//! use std::time::Duration;
//!
//! let (network, mut wires) = VirtualNetwork::new(1, 4096, Faults::none(), 1);
//! let clock = move || network.now();
//! let mut domain = Domain::new(wires.remove(0), Settings::default(), clock);
//! let all = NodeSet::all(1);
//! assert_eq!(domain.compare_and_write(&all, 0, Comparison::Equal, 0, Some((8, 42))), Ok(Ok(true)));
//! assert_eq!(domain.read(8, 8, Duration::ZERO), Some(42_u64.to_ne_bytes().to_vec()));
//! ```

mod collector;
mod context;
mod dissemination;
mod domain;
pub mod machine;
mod message;
mod operation;
mod origin;
mod participant;
mod sequencer;
mod tree;
mod view;
mod view_change;

pub use context::{Rules, Settings};
pub use domain::Domain;
pub use machine::{Machine, Mistake, Number};
pub use message::Message;
pub use operation::{Comparison, EventId, Failure, Fault, NodeSet, Operation, Outcome};
