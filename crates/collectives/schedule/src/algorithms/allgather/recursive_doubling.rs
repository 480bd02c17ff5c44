//! In each stage groups of groups exchange what they have.

use super::resources;
use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms::halves::{Halves, Role};
use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "allgather-recursive-doubling",
    collective: Collective::Allgather,
    order: CombiningOrder::Nothing,
    about: "In stage s everybody exchanges all it has with the rank whose number differs in bit s.",
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.1",
    cost: "log₂ P·(L + 2o) + (P-1)·M·G, and 2(L + 2o) + (P+1)·M·G more if P is no power of two",
    parameters: &[],
    resources: |problem| resources(problem, floor_log(2, problem.ranks) + 2, floor_log(2, problem.ranks) + 2),
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (halves, length) = (Halves::of(problem), problem.elements);
    let area = |r: u32| Place::scratch(r * length);
    let (done, all) = (Flag(halves.stages + 1), problem.ranks * length);
    match halves.role(rank) {
        Role::Represented => match round {
            0 => out.send(Rank(rank.0 + 1), Flag(0), Place::input(0), area(rank.0), length),
            r if r == halves.stages + 1 => out.wait(done),
            _ => {}
        },
        role @ (Role::Alone(_) | Role::ForTwo(_)) if round == 0 => {
            out.copy(Place::input(0), area(rank.0), length);
            if let Role::ForTwo(_) = role {
                out.wait(Flag(0));
            }
        }
        Role::Alone(group) | Role::ForTwo(group) if round <= halves.stages => {
            let have = power(2, round - 1);
            let base = group - group % have;
            let (first, end) = (halves.first(base), halves.first(base + have));
            out.send(
                halves.acting(group ^ have),
                Flag(round),
                area(first),
                area(first),
                (end - first) * length,
            );
            out.wait(Flag(round));
        }
        role => {
            out.copy(area(0), Place::output(0), all);
            if let Role::ForTwo(_) = role {
                // It is in the epoch: it has sent its part.
                out.send(Rank(rank.0 - 1), done, area(0), Place::output(0), all);
            }
        }
    }
}
