//! Ways to an order: those of the literature, as orders of the switches, and our own, an order of the
//! channels.

mod ascending;
mod breadth_first;
mod depth_first;
mod propagation_order;
mod switch_order_search;

pub(crate) use ascending::reaching;
pub use ascending::{Search, ascending, ascending_lanes};
pub use breadth_first::{best_root, breadth_first};
pub use depth_first::{depth_first, depth_first_from};
pub use propagation_order::post;
pub use switch_order_search::{
    Fitness, Genetic, MOST_EXHAUSTIVE, exhaustive, genetic, local_search, static_fitness,
};
