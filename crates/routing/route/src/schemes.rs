//! Schemes that find an order: those of the literature, which order the switches, and our own, which orders
//! the channels.
//!
//! May use: networks, orders and trees. Must never: use the checker.

mod ascending;
mod breadth_first;
mod depth_first;
mod propagation_order;
mod switch_order_search;

pub(crate) use ascending::connecting_order;
pub use ascending::{AscendingSearch, ascending, ascending_lanes};
pub use breadth_first::{best_root, breadth_first};
pub use depth_first::{depth_first, depth_first_from};
pub use propagation_order::propagation_order;
pub use switch_order_search::{
    Fitness, GeneticParameters, MOST_EXHAUSTIVE, exhaustive, genetic, local_search, static_fitness,
};
