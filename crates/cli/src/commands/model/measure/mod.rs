//! `evenkeel model measure`: measures what communication costs, within this machine ([`local`]) or between
//! hosts ([`hosts`]).
//!
//! Both take [`pass_times`] with what [`signal`] offers and collect them in [`samples`]. What samples mean is
//! the model crate's knowledge. [`text`] and [`plot`] show the result.

mod command;
mod hosts;
mod local;
mod pass_times;
mod plot;
mod samples;
mod signal;
mod text;

pub use command::measure;
pub use hosts::serve as serve_node;
pub use local::{RankArguments, serve as serve_rank};
