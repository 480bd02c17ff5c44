//! What each barrier takes, in closed form, under LogGP and under LoP (Höfler 2005, sections 2.2, 2.2.5,
//! 2.2.6 and 2.3.7).
//!
//! All formulas assume that the ranks arrive at the same time and that the network has no contention. The
//! thesis gives three kinds: asymptotic formulas for all algorithms ([`Barrier::asymptotic_ns`]),
//! detailed formulas for a representative of each class ([`Barrier::loggp_ns`]; the others are made of
//! the same primitives here), and LoP for four algorithms ([`Barrier::lop_ns`]; likewise). A barrier of
//! one rank takes no time.

mod algorithm;
mod loggp;
mod lop;
mod machine;

pub use algorithm::{Barrier, Release};
