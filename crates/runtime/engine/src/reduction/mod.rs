//! Combines contributions in rank order ([`fold`]), with built-in functions for plain numbers
//! ([`kernels`]), which processes identify by number ([`operators`]).
//!
//! May use: the types of a call. Must never: combine in any order but rank order.

pub mod fold;
pub mod kernels;
pub mod operators;
