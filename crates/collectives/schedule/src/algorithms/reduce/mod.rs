//! Reductions: everybody's input, combined, comes to be the root's output.
//!
//! Nobody but the root has to wait for anybody, so contributions are acknowledged: a rank sends again only
//! when what it sent in the bank's previous use has been read.

pub mod binomial;
pub mod flat;
