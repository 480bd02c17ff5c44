//! Each rank sends the sum of the contributions so far to the next rank.

use super::{READ, RESULT};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "exscan-linear",
    collective: Collective::Exscan,
    order: CombiningOrder::Ranks,
    about: "Each rank gets its result from the rank below, adds its own contribution, and sends the sum to \
            the rank above as its result.",
    source: "any textbook",
    cost: "(P-1)·(L + 2o + M·G) + (P-2)·M·γ",
    parameters: &[],
    resources: |problem| Resources::flags(1, 2).and_scratch(2 * u64::from(problem.elements)).in_banks(2),
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let (length, came, sum) = (problem.elements, Place::scratch(0), Place::scratch(problem.elements));
    let is_last = rank.0 + 1 == problem.ranks;
    if rank.0 > 0 {
        out.wait(RESULT);
        out.copy(came, Place::output(0), length);
        if !is_last {
            out.combine(sum, came, Place::input(0), length);
        }
        out.put(Rank(rank.0 - 1), READ);
    }
    if !is_last {
        out.wait_previous(READ);
        out.send(Rank(rank.0 + 1), RESULT, if rank.0 == 0 { Place::input(0) } else { sum }, came, length);
    }
}
