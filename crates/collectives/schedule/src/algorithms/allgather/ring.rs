//! The ring: in each round, every rank sends the part that it received last to the next rank.

use super::resources;
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allgather-ring",
    collective: Collective::Allgather,
    order: CombiningOrder::Nothing,
    about: "In each round each rank passes on to the next rank what it received in the round before.",
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.1",
    cost: "(P-1)·(L + 2o + M·G), M the bytes of one rank",
    parameters: &[],
    resources: |problem| resources(problem, problem.ranks, problem.ranks - 1),
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (ranks, length) = (problem.ranks, problem.elements);
    let area = |r: Rank| Place::scratch(r.0 * length);
    if round == ranks - 1 {
        out.copy(Place::input(0), area(rank), length);
        out.copy(Place::scratch(0), Place::output(0), ranks * length);
        return;
    }
    let part = problem.back(rank, round);
    let from = if round == 0 { Place::input(0) } else { area(part) };
    out.send(problem.around(rank, 1), Flag(round), from, area(part), length);
    out.wait(Flag(round));
}
