//! Every rank contributes, each combines one part, and all copy the parts.

use crate::algorithm::Algorithm;
use crate::algorithms::fold::fold;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

/// With more parts, announcing them costs more than combining them in parallel saves.
const MOST_PARTS: u32 = 16;

/// The number of parts into which `elements` are divided among `ranks`: one for each rank, no more than
/// there are elements, and at most 16.
pub const fn part_count(ranks: u32, elements: u64) -> u32 {
    let least = if MOST_PARTS < ranks { MOST_PARTS } else { ranks };
    if elements < least as u64 { elements as u32 } else { least }
}

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-parts",
    collective: Collective::Allreduce,
    order: CombiningOrder::Fold,
    about: "Each rank writes its vector into memory that all see; rank i combines part i of all vectors \
            and writes the result there too.",
    source: "the engine's large reductions, in which any rank that is awake takes the next part; \
             reduce-scatter and allgather in one memory",
    cost: "2·(L + 2o + (P-2)·g) + 2·M·P·G + M·γ, γ the time to combine a byte, with as many parts as \
           ranks; at most 16 are made",
    parameters: &[],
    resources: |problem| {
        let vectors = u64::from(problem.elements) * (u64::from(problem.ranks) + 1);
        Resources::flags(2, problem.ranks + part_count(problem.ranks, problem.elements.into()))
            .and_scratch(vectors)
            .in_banks(2)
    },
    round,
};

/// With fewer parts than ranks, some ranks do not learn in the second round what the others have seen of
/// the first one. Hence two banks, as in the algorithms that only show their vectors.
fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (ranks, length) = (problem.ranks, problem.elements);
    let parts = part_count(ranks, length.into());
    let area = |r: u32| Place::scratch(r * length);
    if round == 0 {
        out.share(Place::input(0), area(rank.0), length);
        problem.others(rank).for_each(|other| out.put(other, Flag(rank.0)));
        problem.others(rank).for_each(|other| out.wait(Flag(other.0)));
        return;
    }
    if rank.0 < parts {
        let (begin, end) = (problem.part(rank.0, parts), problem.part(rank.0 + 1, parts));
        fold(out, ranks, |r| area(r).plus(begin), Place::output(begin), end - begin);
        out.share(Place::output(begin), area(ranks).plus(begin), end - begin);
        problem.others(rank).for_each(|other| out.put(other, Flag(ranks + rank.0)));
    }
    problem.others(rank).filter(|other| other.0 < parts).for_each(|other| out.wait(Flag(ranks + other.0)));
    out.copy(area(ranks), Place::output(0), length);
}
