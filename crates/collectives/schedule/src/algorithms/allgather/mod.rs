//! Allgathers: the input of every rank becomes a part of the output of every rank.
//!
//! As in allreduce, every rank needs something from every rank, so two banks make acknowledgements
//! unnecessary.

pub(crate) mod bruck;
pub(crate) mod flat;
pub(crate) mod recursive_doubling;
pub(crate) mod ring;

use crate::problem::Problem;
use crate::resources::Resources;

fn resources(problem: &Problem, rounds: u32, flags: u32) -> Resources {
    Resources::flags(rounds, flags)
        .and_scratch(u64::from(problem.elements) * u64::from(problem.ranks))
        .in_banks(2)
}
