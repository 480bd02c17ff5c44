//! Tables from an order of the channels: short, balanced, and free of deadlock because the order is.
//!
//! A table is destination-based: what a switch does with a packet does not depend on where the packet came
//! from. So the paths to one destination form a tree. A switch may be a child of another only if its
//! channel to it comes before the other's own next channel. Every switch that has some ascending path to
//! the destination has a place in such a tree: if every switch takes the path that begins *latest* in the
//! order, each path continues as the latest path of the next switch (the latest-departure tree of a
//! temporal graph). Shortest paths are tried first. Switches that have no place among them get their latest
//! path.
//!
//! May use: networks, orders and tables. Must never: use the checker, which judges the result.

mod balance;
mod graph;
mod positions;
mod tree;

pub(crate) use balance::estimate_max_load;
pub use balance::{BalanceEffort, balanced, balanced_lanes, minimal};
pub(crate) use graph::Graph;
pub(crate) use positions::ChannelPositions;
pub(crate) use tree::{NONE, TreeBuilder};
