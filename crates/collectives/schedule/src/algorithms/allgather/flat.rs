//! Every rank sends its vector to all other ranks at once.

use super::resources;
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allgather-flat",
    collective: Collective::Allgather,
    order: CombiningOrder::Nothing,
    about: "Each rank writes its vector once into memory that all see, raises a flag at each rank, the \
            next one first, and copies all vectors.",
    source: "Moorthy, Panda, Sadayappan 2000 (CANPC), their simultaneous broadcast without the combining; \
             the engine's allgathers within a node",
    cost: "t_write + M·P·t_slot + (P-1)·t_flag_write + (P-1)·t_read(M) on a ring of reflective memory, M \
           the bytes of one rank",
    parameters: &[],
    resources: |problem| resources(problem, 1, problem.ranks),
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let length = problem.elements;
    out.share(Place::input(0), Place::scratch(rank.0 * length), length);
    problem.others(rank).for_each(|other| out.put(other, Flag(rank.0)));
    problem.others(rank).for_each(|other| out.wait(Flag(other.0)));
    out.copy(Place::scratch(0), Place::output(0), problem.ranks * length);
}
