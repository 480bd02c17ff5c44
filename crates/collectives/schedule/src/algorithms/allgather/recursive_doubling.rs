//! Recursive doubling: in each stage, two neighbouring groups exchange all parts that they have.

use super::resources;
use crate::algorithm::Algorithm;
use crate::algorithms::power_of_two_groups::{GroupRole, PowerOfTwoGroups};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allgather-recursive-doubling",
    collective: Collective::Allgather,
    order: CombiningOrder::Nothing,
    about: "In stage s each rank exchanges all it has with the rank whose number differs in bit s.",
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.1",
    cost: "log₂ P·(L + 2o) + (P-1)·M·G, and 2(L + 2o) + (P+1)·M·G more if P is no power of two",
    parameters: &[],
    resources: |problem| resources(problem, floor_log(2, problem.ranks) + 2, floor_log(2, problem.ranks) + 2),
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (groups, length) = (PowerOfTwoGroups::of(problem), problem.elements);
    let area = |r: u32| Place::scratch(r * length);
    let (done, all) = (Flag(groups.stages + 1), problem.ranks * length);
    match groups.role(rank) {
        GroupRole::Represented => match round {
            0 => out.send(Rank(rank.0 + 1), Flag(0), Place::input(0), area(rank.0), length),
            r if r == groups.stages + 1 => out.wait(done),
            _ => {}
        },
        role @ (GroupRole::Single(_) | GroupRole::Representative(_)) if round == 0 => {
            out.copy(Place::input(0), area(rank.0), length);
            if let GroupRole::Representative(_) = role {
                out.wait(Flag(0));
            }
        }
        GroupRole::Single(group) | GroupRole::Representative(group) if round <= groups.stages => {
            let have = power(2, round - 1);
            let base = group - group % have;
            let (first, end) = (groups.first(base), groups.first(base + have));
            out.send(
                groups.representative(group ^ have),
                Flag(round),
                area(first),
                area(first),
                (end - first) * length,
            );
            out.wait(Flag(round));
        }
        role => {
            out.copy(area(0), Place::output(0), all);
            if let GroupRole::Representative(_) = role {
                // The rank below has entered the epoch: it has sent its part.
                out.send(Rank(rank.0 - 1), done, area(0), Place::output(0), all);
            }
        }
    }
}
