//! One partner after the other.

use crate::algorithm::{Algorithm, Operation, Order};
use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Needs;
use crate::step::{Place, Rank, Slot};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "alltoall-pairwise",
    operation: Operation::Alltoall,
    order: Order::Nothing,
    about: "In round r everybody sends to the rank r above and hears from the rank r below, so that nobody is sent to by two at a time.",
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    cost: "(P-1)·(L + 2o + M·G), M the bytes for one rank",
    parameters: &[],
    needs: |problem| {
        let parts = u64::from(problem.elements) * u64::from(problem.ranks);
        Needs::flags(problem.ranks, problem.ranks - 1).and_scratch(parts).in_banks(2)
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
    out.send(to, Slot(round - 1), Place::input(part(to)), Place::scratch(part(rank)), length);
    out.wait(Slot(round - 1));
    out.copy(Place::scratch(part(from)), Place::output(part(from)), length);
}
