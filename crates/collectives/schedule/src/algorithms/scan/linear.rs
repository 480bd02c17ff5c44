//! Each rank sends its result to the next rank.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "scan-linear",
    collective: Collective::Scan,
    order: CombiningOrder::Ranks,
    about: "Each rank waits for the rank below, adds its own contribution, and sends the result to the \
            rank above.",
    source: "any textbook",
    cost: "(P-1)·(L + 2o + M·G + M·γ)",
    parameters: &[],
    resources: |problem| Resources::flags(1, 2).and_scratch(problem.elements.into()).in_banks(2),
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let (length, data, read) = (problem.elements, Flag(0), Flag(1));
    let result = Place::output(0);
    if rank.0 == 0 {
        out.copy(Place::input(0), result, length);
    } else {
        out.wait(data);
        out.combine(result, Place::scratch(0), Place::input(0), length);
        out.put(Rank(rank.0 - 1), read);
    }
    if rank.0 + 1 < problem.ranks {
        out.wait_previous(read);
        out.send(Rank(rank.0 + 1), data, result, Place::scratch(0), length);
    }
}
