//! Blocking collectives.

pub mod fast_path;
pub mod wait_loop;
