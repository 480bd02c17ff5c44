//! Everybody sends to the root.

use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms::collect;
use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "gather-flat",
    collective: Collective::Gather,
    order: CombiningOrder::Nothing,
    about: "Everybody sends its vector to the root.",
    source: "linear gather; Alexandrov, Ionescu, Schauser, Scheiman 1995 for its cost",
    cost: "L + 2o + (P-2)·g + (P-1)·M·G",
    parameters: &[],
    resources: collect::resources,
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    if problem.participation(Collective::Gather, rank).contributes {
        return collect::hand_in(problem, rank, out);
    }
    for other in (0..problem.ranks).map(Rank) {
        collect::await_from(problem, other, out);
        out.copy(collect::place(problem, other), Place::output(other.0 * problem.elements), problem.elements);
    }
    collect::release(problem, out);
}
