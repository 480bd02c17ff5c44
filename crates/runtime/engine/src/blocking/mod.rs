//! Blocking collectives: each is an operation, followed by a wait until this rank has finished it.
//!
//! [`collective`] carries out any operation, [`in_parts`] reductions of long vectors in two steps, and
//! [`fast_path`] the most frequent ones; [`step`] is what the first two have in common. All wait in
//! [`wait_loop`], and say in the rank's line for what ([`awaited`]). [`direct`] carries out small collectives
//! across nodes; [`turn`] says which of the threads that wait there reads what comes.
//!
//! May use: all of the engine but [`crate::dispatch`] and [`crate::barrier`]. Must never: make a rank wait
//! for something that it does not need.

pub(crate) mod awaited;
pub(crate) mod collective;
mod direct;
pub mod fast_path;
mod in_parts;
mod step;
mod turn;
pub mod wait_loop;
