//! Everybody shows its vector to all.

use super::needs;
use crate::algorithm::{Algorithm, Operation, Order};
use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Place, Rank, Slot};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "allgather-flat",
    operation: Operation::Allgather,
    order: Order::Nothing,
    about: "Everybody writes its vector once into memory that all see, raises a flag at each, the next rank first, and copies all.",
    source: "Moorthy, Panda, Sadayappan 2000 (CANPC), their simultaneous broadcast without the combining; the engine's allgathers within a node",
    cost: "t_write + M·P·t_slot + (P-1)·t_flag_write + (P-1)·t_read(M) on a ring of reflective memory, M the bytes of one rank",
    parameters: &[],
    needs: |problem| needs(problem, 1, problem.ranks),
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let length = problem.elements;
    out.share(Place::input(0), Place::scratch(rank.0 * length), length);
    problem.others(rank).for_each(|other| out.put(other, Slot(rank.0)));
    problem.others(rank).for_each(|other| out.wait(Slot(other.0)));
    out.copy(Place::scratch(0), Place::output(0), problem.ranks * length);
}
