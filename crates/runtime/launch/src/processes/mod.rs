//! Starts ranks, and finds and ends everything that they have started.

mod descendants;
mod start;

pub(crate) use descendants::{end_all, nothing_is_left, own_children, reap, signal_all};
pub(crate) use start::{Started, start};
