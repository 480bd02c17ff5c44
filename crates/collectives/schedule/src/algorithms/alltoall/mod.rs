//! Alltoalls: every rank has a part for every rank.
//!
//! As in allreduce, every rank needs something from every rank, so two banks make acknowledgements
//! unnecessary.

pub(crate) mod bruck;
pub(crate) mod flat;
pub(crate) mod pairwise;
