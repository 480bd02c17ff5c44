//! From an order of the channels to tables: shortest, balanced, and free of deadlock because the order
//! is.
//!
//! A table is destination-based: what a switch does with a packet may not depend on where it came from.
//! So the paths to one destination form a tree, and a switch may hang below another only if its channel
//! to it comes before the other's own next channel. That a switch has some ascending path to the
//! destination is enough to find it a place in the tree: if every switch takes the path that begins
//! *latest* in the order, whoever can ascend to the destination at all can ascend to one that has its
//! place already (the latest-departure tree of a temporal graph). Shortest paths are tried first;
//! switches that are left over by them get their latest path.

mod balance;
mod graph;
mod tree;

pub(crate) use balance::rough_load;
pub use balance::{Effort, balanced, balanced_lanes, minimal};
pub(crate) use graph::{Graph, Places};
pub(crate) use tree::{NONE, Tree, TreeBuilder};
