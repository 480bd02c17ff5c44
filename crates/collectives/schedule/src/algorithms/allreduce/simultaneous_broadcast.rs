//! Every rank sends its vector to all other ranks and combines all vectors itself.

use crate::algorithm::Algorithm;
use crate::algorithms::fold::fold;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-simultaneous-broadcast",
    collective: Collective::Allreduce,
    order: CombiningOrder::Fold,
    about: "Each rank writes its vector once into memory that all see, raises a flag at each rank, the \
            next one first, and combines all vectors.",
    source: "Moorthy, Panda, Sadayappan 2000 (CANPC); combined in the order of ranks instead of the order \
             of arrival",
    cost: "t_write + M·P·t_slot + (P-1)·t_flag_write + (P-1)·t_read(M) on a ring of reflective memory",
    parameters: &[],
    resources: |problem| {
        let vectors = u64::from(problem.elements) * u64::from(problem.ranks);
        Resources::flags(1, problem.ranks).and_scratch(vectors).in_banks(2)
    },
    round,
};

/// The order in which flags rise is staggered, so that no rank is the first target of all others.
fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let length = problem.elements;
    let area = |r: u32| Place::scratch(r * length);
    out.share(Place::input(0), area(rank.0), length);
    problem.others(rank).for_each(|other| out.put(other, Flag(rank.0)));
    problem.others(rank).for_each(|other| out.wait(Flag(other.0)));
    fold(out, problem.ranks, area, Place::output(0), length);
}
