//! The algorithms: a folder for each collective, a file for each algorithm.
//!
//! A new algorithm is a file with one [`Algorithm`](crate::Algorithm) in it and one line in [`ALL`]. An
//! algorithm on the list is checked, drawn and simulated. What several algorithms share is beside the
//! folders: the groups of `power_of_two_groups`, the steps of `root_collects`, `prefix` and `fold`.
//!
//! May use: problems, rounds, steps and [`deposits`](crate::deposits). Must never: look at other ranks'
//! steps, or depend on the checker.

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
pub mod bcast;
pub mod exscan;
pub mod gather;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;

mod fold;
mod list;
mod power_of_two_groups;
mod prefix;
mod root_collects;

pub use list::{ALL, find, for_collective};
