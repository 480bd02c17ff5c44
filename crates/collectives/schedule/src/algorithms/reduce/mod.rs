//! Reductions: the inputs of all ranks, combined, become the root's output.
//!
//! Only the root waits for other ranks, so contributions are acknowledged: a rank sends again only when
//! its message of the bank's previous use has been read.

pub(crate) mod binomial;
pub(crate) mod flat;
