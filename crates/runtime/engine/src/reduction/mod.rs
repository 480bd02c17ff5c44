//! Combining contributions.

pub mod fold;
pub mod kernels;
