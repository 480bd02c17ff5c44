//! Every rank sends to the root.

use crate::algorithm::Algorithm;
use crate::algorithms::root_collects;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "gather-flat",
    collective: Collective::Gather,
    order: CombiningOrder::Nothing,
    about: "Each rank sends its vector to the root.",
    source: "linear gather; Alexandrov, Ionescu, Schauser, Scheiman 1995 for its cost",
    cost: "L + 2o + (P-2)·g + (P-1)·M·G",
    parameters: &[],
    resources: root_collects::resources,
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    if problem.participation(Collective::Gather, rank).contributes {
        return root_collects::contribute(problem, rank, out);
    }
    for other in (0..problem.ranks).map(Rank) {
        root_collects::await_from(problem, other, out);
        out.copy(
            root_collects::place(problem, other),
            Place::output(other.0 * problem.elements),
            problem.elements,
        );
    }
    root_collects::release(problem, out);
}
