//! The root combines all vectors.

use crate::algorithm::Algorithm;
use crate::algorithms::fold::fold;
use crate::algorithms::root_collects;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "reduce-flat",
    collective: Collective::Reduce,
    order: CombiningOrder::Fold,
    about: "Each rank sends its vector to the root, which combines them in the order of ranks.",
    source: "linear reduction; the grouping is the engine's",
    cost: "L + 2o + (P-2)·g + (P-1)·(M·G + M·γ), γ the time to combine a byte",
    parameters: &[],
    resources: root_collects::resources,
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    if problem.participation(Collective::Reduce, rank).contributes {
        return root_collects::contribute(problem, rank, out);
    }
    (0..problem.ranks).for_each(|other| root_collects::await_from(problem, Rank(other), out));
    fold(
        out,
        problem.ranks,
        |other| root_collects::place(problem, Rank(other)),
        Place::output(0),
        problem.elements,
    );
    root_collects::release(problem, out);
}
