//! Collective operations among the ranks of one node.

pub mod allreduce;
pub mod builtin;
pub mod call;
pub mod completion;
pub mod deposit;
pub mod fast_path;
pub mod operation;
pub mod plan;
