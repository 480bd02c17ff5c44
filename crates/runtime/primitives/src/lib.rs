//! The three global primitives on sets of nodes (Frachtenberg 2003, section 3.4), on which everything is
//! built that concerns a whole machine: launching, strobes, heartbeats, barriers.
//!
//! * `xfer_and_signal` writes a block at the same place of every node's memory, and signals an event
//!   there. It does not wait.
//! * `test_event` tests an event of this node, or waits for it.
//! * `compare_and_write` compares a variable of every node with a value. If the comparison holds on all, it
//!   writes a variable on all. It waits, and answers yes or no.
//!
//! What is guaranteed, whatever the network does (lose, duplicate, reorder, partition) and whichever
//! nodes stop or die:
//!
//! * An operation is carried out on all nodes of its set or on none.
//! * All operations, and reads through [`Domain::read`], are as if carried out one after the other, each
//!   at one moment between its call and its return (linearizability; the original demands sequential
//!   consistency). If several nodes' comparisons compete, all nodes see the same one win.
//! * A node that does not answer within the limit is named, where the original stalls.
//! * If node 0, which orders operations, falls silent, the next living node does, unless half of the nodes or
//!   more are gone.
//!
//! What is not guaranteed: a node that reaches no node which knows what became of an operation cannot
//! read what that operation may have changed.
//!
//! Large data are sent ahead of their operation, from node to node of the set, and wait where no reader sees
//! them. What is ordered then is small.
//!
//! [`Machine`] is the protocol without I/O; [`Domain`] runs it on a [`Wire`](evenkeel_fabric::Wire).
//!
//! May use: the fabric's interface. Must never: know what is built on top, look at a clock, or take the
//! network's word for a node's life.
//!
//! ```
//! use evenkeel_fabric::WordWrite;
//! use evenkeel_fabric::virtual_network::{Faults, VirtualNetwork};
//! use evenkeel_primitives::{Comparison, Domain, NodeSet, Settings};
//! use std::time::Duration;
//!
//! let (network, mut wires) = VirtualNetwork::new(1, 4096, Faults::none(), 1);
//! let clock = move || network.now();
//! let mut domain = Domain::new(wires.remove(0), Settings::default(), clock);
//! let all = NodeSet::all(1);
//! let write = Some(WordWrite { at: 8, value: 42 });
//! assert_eq!(domain.compare_and_write(&all, 0, Comparison::Equal, 0, write), Ok(Ok(true)));
//! assert_eq!(domain.read(8, 8, Duration::ZERO), Some(42_u64.to_ne_bytes().to_vec()));
//! ```

mod collector;
mod context;
mod dissemination;
mod domain;
mod machine;
mod message;
mod node_set;
mod operation;
mod origin;
mod outcome;
mod participant;
mod roles;
mod sequencer;
mod settings;
mod tree;
mod view;
mod view_change;

pub use domain::Domain;
pub use machine::{Machine, Outgoing};
pub use message::Message;
pub use node_set::NodeSet;
pub use operation::{Comparison, EventId, Operation, OperationNumber};
pub use outcome::{CallError, NodeFailure, OperationError, Outcome};
pub use settings::{Rules, Settings};
