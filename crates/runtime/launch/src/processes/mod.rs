//! Starts ranks, and finds and ends everything that they have started.

mod descendants;
mod start;

pub(crate) use descendants::{end_all, end_leftovers, own_children, reap, signal_all};
pub(crate) use start::{Started, start};
