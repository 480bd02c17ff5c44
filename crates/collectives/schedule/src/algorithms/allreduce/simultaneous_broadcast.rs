//! Everybody shows its vector to all, and combines all.

use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms::fold::fold;
use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Flag, Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-simultaneous-broadcast",
    collective: Collective::Allreduce,
    order: CombiningOrder::Fold,
    about: "Everybody writes its vector once into memory that all see, raises a flag at each, the next rank first, and combines all.",
    source: "Moorthy, Panda, Sadayappan 2000 (CANPC); combined in the order of ranks instead of that of arrival",
    cost: "t_write + M·P·t_slot + (P-1)·t_flag_write + (P-1)·t_read(M) on a ring of reflective memory",
    parameters: &[],
    resources: |problem| {
        let vectors = u64::from(problem.elements) * u64::from(problem.ranks);
        Resources::flags(1, problem.ranks).and_scratch(vectors).in_banks(2)
    },
    round,
};

/// Flags are raised in staggered order, so that no rank is everybody's first.
fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let length = problem.elements;
    let area = |r: u32| Place::scratch(r * length);
    out.share(Place::input(0), area(rank.0), length);
    problem.others(rank).for_each(|other| out.put(other, Flag(rank.0)));
    problem.others(rank).for_each(|other| out.wait(Flag(other.0)));
    fold(out, problem.ranks, area, Place::output(0), length);
}
