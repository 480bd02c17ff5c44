//! Parts travel around a ring to be combined, then once more to be distributed.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-ring",
    collective: Collective::Allreduce,
    order: CombiningOrder::Any,
    about: "Each of P parts goes once around the ring, each rank adding its own contribution, and a second \
            time, complete.",
    source: "Patarasuk, Yuan 2009",
    cost: "2(P-1)·(L + 2o) + 2·M·G·(P-1)/P + M·γ·(P-1)/P",
    parameters: &[],
    resources: |problem| {
        let hops = 2 * (problem.ranks - 1);
        Resources::flags(hops + 1, hops).and_scratch(problem.elements.into())
    },
    round,
};

/// A part begins at the rank of its number, so its operands wrap around: they are not in the order of
/// ranks.
fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (ranks, me) = (problem.ranks, u64::from(rank.0));
    if ranks == 1 {
        return out.copy(Place::input(0), Place::output(0), problem.elements);
    }
    let part = |back: u32| ((me + u64::from(ranks) - u64::from(back)) % u64::from(ranks)) as u32;
    let part_after = |hops: u32| ((me + 1 + u64::from(ranks) - u64::from(hops)) % u64::from(ranks)) as u32;
    let span =
        |part: u32| (problem.part(part, ranks), problem.part(part + 1, ranks) - problem.part(part, ranks));
    let next = problem.around(rank, 1);
    if round < ranks - 1 {
        let (begin, length) = span(part(round));
        let from = if round == 0 { Place::input(begin) } else { Place::output(begin) };
        out.send(next, Flag(round), from, Place::scratch(begin), length);
        out.wait(Flag(round));
        let (begin, length) = span(part(round + 1));
        out.combine(Place::output(begin), Place::scratch(begin), Place::input(begin), length);
    } else if round < 2 * (ranks - 1) {
        // The next rank has had this part before and is done with its incomplete state.
        let (begin, length) = span(part_after(round - (ranks - 1)));
        out.send(next, Flag(round), Place::output(begin), Place::output(begin), length);
        out.wait(Flag(round));
    }
}
