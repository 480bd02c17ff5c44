//! Pending barriers.

pub mod fast_path;
pub mod pending;
