//! Collective operations among the ranks of one node.

pub mod builtin;
pub mod call;
pub mod completion;
pub mod deposit;
pub mod operation;
pub mod plan;
pub mod shared_fold;
