//! The root combines all.

use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms::collect;
use crate::algorithms::fold::fold;
use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "reduce-flat",
    collective: Collective::Reduce,
    order: CombiningOrder::Fold,
    about: "Everybody sends its vector to the root, which combines them in the order of ranks.",
    source: "linear reduction; the grouping is the engine's",
    cost: "L + 2o + (P-2)·g + (P-1)·(M·G + M·γ), γ the time to combine a byte",
    parameters: &[],
    resources: collect::resources,
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    if problem.participation(Collective::Reduce, rank).contributes {
        return collect::hand_in(problem, rank, out);
    }
    (0..problem.ranks).for_each(|other| collect::await_from(problem, Rank(other), out));
    fold(
        out,
        problem.ranks,
        |other| collect::place(problem, Rank(other)),
        Place::output(0),
        problem.elements,
    );
    collect::release(problem, out);
}
