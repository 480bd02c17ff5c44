//! Combining contributions: in rank order ([`fold`]), by built-in functions for plain numbers
//! ([`kernels`]), which have numbers ([`operators`]).
//!
//! May use: the types of a call. Must never combine in another order than that of the ranks.

pub mod fold;
pub mod kernels;
pub mod operators;
