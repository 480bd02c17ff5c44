//! Measures the shared memory of this machine.
//!
//! [`ranks`] starts processes of this program, each held on a core, which signal through [`signal_memory`];
//! [`rank_pass`] is what they do in one pass; [`measurement`] takes all passes.

mod measurement;
mod rank_pass;
mod ranks;
mod signal_memory;

pub use measurement::measure;
pub use ranks::{RankArguments, serve};
