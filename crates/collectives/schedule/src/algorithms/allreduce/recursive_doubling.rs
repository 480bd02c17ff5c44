//! In each stage groups of groups exchange what they have.

use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms::halves::{Halves, Role};
use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Flag, Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-recursive-doubling",
    collective: Collective::Allreduce,
    order: CombiningOrder::Ranks,
    about: "In stage s everybody exchanges its whole partial result with the rank whose number differs in bit s.",
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.5",
    cost: "log₂ P·(L + 2o + M·G + M·γ), and 2(L + 2o + M·G) more if P is no power of two",
    parameters: &[],
    resources: |problem| {
        let stages = floor_log(2, problem.ranks);
        Resources::flags(stages + 2, stages + 2)
            .and_scratch(u64::from(stages + 1) * u64::from(problem.elements))
            .in_banks(2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (halves, length) = (Halves::of(problem), problem.elements);
    let (own, result) = (Place::input(0), Place::output(0));
    let area = |i: u32| Place::scratch(i * length);
    let done = Flag(halves.stages + 1);
    match halves.role(rank) {
        Role::Represented => match round {
            0 => out.send(Rank(rank.0 + 1), Flag(0), own, area(0), length),
            r if r == halves.stages + 1 => out.wait(done),
            _ => {}
        },
        Role::Alone(_) if round == 0 => out.copy(own, result, length),
        Role::ForTwo(_) if round == 0 => {
            out.wait(Flag(0));
            out.combine(result, area(0), own, length);
        }
        Role::Alone(group) | Role::ForTwo(group) if round <= halves.stages => {
            let other = group ^ power(2, round - 1);
            out.send(halves.acting(other), Flag(round), result, area(round), length);
            out.wait(Flag(round));
            let (first, second) = if other < group { (area(round), result) } else { (result, area(round)) };
            out.combine(result, first, second, length);
        }
        Role::Alone(_) => {}
        Role::ForTwo(_) => out.send(Rank(rank.0 - 1), done, result, result, length),
    }
}
