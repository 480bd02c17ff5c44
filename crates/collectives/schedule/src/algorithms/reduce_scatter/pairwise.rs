//! Parts are exchanged with one partner after the other; then each rank combines its own.

use crate::algorithm::Algorithm;
use crate::algorithms::fold::fold;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "reduce-scatter-pairwise",
    collective: Collective::ReduceScatter,
    order: CombiningOrder::Fold,
    about: "In round r each rank sends to the rank r above the part of that rank; at the end each combines \
            what it received in the order of ranks.",
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.3; the grouping is the engine's",
    cost: "(P-1)·(L + 2o + M·G) + (P-1)·M·γ, M the bytes of a part, γ the time to combine a byte",
    parameters: &[],
    resources: |problem| {
        let parts = u64::from(problem.elements) * u64::from(problem.ranks);
        Resources::flags(problem.ranks, problem.ranks - 1).and_scratch(parts).in_banks(2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (ranks, length) = (problem.ranks, problem.elements);
    let part = |r: Rank| r.0 * length;
    if round + 1 < ranks {
        let to = problem.around(rank, round + 1);
        out.send(to, Flag(round), Place::input(part(to)), Place::scratch(part(rank)), length);
        out.wait(Flag(round));
    } else {
        let place =
            |r: u32| if r == rank.0 { Place::input(part(rank)) } else { Place::scratch(part(Rank(r))) };
        fold(out, ranks, place, Place::output(0), length);
    }
}
