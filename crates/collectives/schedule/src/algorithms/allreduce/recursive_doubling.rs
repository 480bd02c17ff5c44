//! Recursive doubling: in each stage, two neighbouring groups exchange their partial results.

use crate::algorithm::Algorithm;
use crate::algorithms::power_of_two_groups::{GroupRole, PowerOfTwoGroups};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-recursive-doubling",
    collective: Collective::Allreduce,
    order: CombiningOrder::Ranks,
    about: "In stage s each rank exchanges its whole partial result with the rank whose number differs in \
            bit s.",
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
    let (groups, length) = (PowerOfTwoGroups::of(problem), problem.elements);
    let (own, result) = (Place::input(0), Place::output(0));
    let area = |i: u32| Place::scratch(i * length);
    let done = Flag(groups.stages + 1);
    match groups.role(rank) {
        GroupRole::Represented => match round {
            0 => out.send(Rank(rank.0 + 1), Flag(0), own, area(0), length),
            r if r == groups.stages + 1 => out.wait(done),
            _ => {}
        },
        GroupRole::Single(_) if round == 0 => out.copy(own, result, length),
        GroupRole::Representative(_) if round == 0 => {
            out.wait(Flag(0));
            out.combine(result, area(0), own, length);
        }
        GroupRole::Single(group) | GroupRole::Representative(group) if round <= groups.stages => {
            let other = group ^ power(2, round - 1);
            out.send(groups.representative(other), Flag(round), result, area(round), length);
            out.wait(Flag(round));
            let (first, second) = if other < group { (area(round), result) } else { (result, area(round)) };
            out.combine(result, first, second, length);
        }
        GroupRole::Single(_) => {}
        GroupRole::Representative(_) => out.send(Rank(rank.0 - 1), done, result, result, length),
    }
}
