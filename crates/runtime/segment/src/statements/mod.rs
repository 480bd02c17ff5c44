//! Small collectives across nodes that ranks carry themselves: what the ranks of this node deposit, and what
//! each node of the communicator says, in a block beside the communicator's own.
//!
//! ```text
//! head        as of every block
//! finished    how many collectives all ranks here have finished
//! credits     for each node, how many collectives its ranks have finished, as far as it is known here
//! slots       one a window position: how many ranks have arrived, how many have left, who answers
//! deposits    ranks × window places: a description, data
//! statements  nodes × window places: a description, data; every word with the collective's tag
//! ```
//!
//! Collectives are numbered alike on all nodes. Each node makes at most one *statement* in each: what its
//! ranks contribute together, or what the node at the root tells the others. It comes over a network that may
//! lose it or bring it twice, and any rank may be the one that has read it and writes it here: a slow rank
//! may write it when others have written it long ago, and have gone on. So a word of a statement has the
//! number of its collective beside the data, and only replaces one of an earlier collective.
//!
//! A rank begins collective `number` when all ranks of all nodes have finished collective `number - window`.
//!
//! May use: the words of the block. Must never: wait, or know a network.

mod geometry;
mod words;

pub use geometry::{DATA_BYTES, MAX_NODES, StatementGeometry, WINDOW};
pub use words::{Data, Statements};
