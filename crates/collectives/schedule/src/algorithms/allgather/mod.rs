//! Everybody's input comes to be a part of everybody's output.
//!
//! As in allreduce, everybody needs something from everybody, so two banks need no acknowledgements.

pub mod bruck;
pub mod flat;
pub mod recursive_doubling;
pub mod ring;

use crate::problem::Problem;
use crate::schedule::Resources;

fn resources(problem: &Problem, rounds: u32, flags: u32) -> Resources {
    Resources::flags(rounds, flags)
        .and_scratch(u64::from(problem.elements) * u64::from(problem.ranks))
        .in_banks(2)
}
