//! Every rank exchanges parts with one partner after the other.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "alltoall-pairwise",
    collective: Collective::Alltoall,
    order: CombiningOrder::Nothing,
    about: "In round r each rank sends to the rank r above and hears from the rank r below, so that no \
            rank receives from two at a time.",
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    cost: "(P-1)·(L + 2o + M·G), M the bytes for one rank",
    parameters: &[],
    resources: |problem| {
        let parts = u64::from(problem.elements) * u64::from(problem.ranks);
        Resources::flags(problem.ranks, problem.ranks - 1).and_scratch(parts).in_banks(2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let length = problem.elements;
    let part = |r: Rank| r.0 * length;
    if round == 0 {
        return out.copy(Place::input(part(rank)), Place::output(part(rank)), length);
    }
    let (to, from) = (problem.around(rank, round), problem.back(rank, round));
    out.send(to, Flag(round - 1), Place::input(part(to)), Place::scratch(part(rank)), length);
    out.wait(Flag(round - 1));
    out.copy(Place::scratch(part(from)), Place::output(part(from)), length);
}
