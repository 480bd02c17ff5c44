//! All ranks add to one counter, and the rank that comes last combines for all.

use crate::algorithm::Algorithm;
use crate::algorithms::fold::fold;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Counter, Flag, Place, Rank, RankSet};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-central-counter",
    collective: Collective::Allreduce,
    order: CombiningOrder::Fold,
    about: "Each rank writes its vector into memory that all see and adds one to a counter at rank 0; the \
            rank that completes the count combines for all and tells all.",
    source: "the engine's small reductions; its barrier is Höfler 2005, section 2.2.1.1",
    cost: "L + P·o + (P-1)·M·γ + t_bc + P·M·G, γ the time to combine a byte",
    parameters: &[],
    resources: |problem| {
        let vectors = u64::from(problem.elements) * (u64::from(problem.ranks) + 1);
        Resources::flags(3, 1).and_counters(1).and_scratch(vectors).in_banks(2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (ranks, length) = (problem.ranks, problem.elements);
    let area = |r: u32| Place::scratch(r * length);
    let result = area(ranks);
    match round {
        0 => {
            out.share(Place::input(0), area(rank.0), length);
            out.count(Rank(0), Counter(0), ranks, 2);
        }
        1 => {
            fold(out, ranks, area, Place::output(0), length);
            out.share(Place::output(0), result, length);
            out.multicast(RankSet::range(Rank(0), ranks), Flag(0));
        }
        _ => {
            out.wait(Flag(0));
            out.copy(result, Place::output(0), length);
        }
    }
}
