//! Every rank sends all its parts at once and combines its own.

use crate::algorithm::Algorithm;
use crate::algorithms::alltoall::flat::{resources, send_parts};
use crate::algorithms::fold::fold;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "reduce-scatter-flat",
    collective: Collective::ReduceScatter,
    order: CombiningOrder::Fold,
    about: "Each rank sends its parts to one rank after the other, the next rank first, without waiting in \
            between; then it combines what it received in the order of ranks.",
    source: "the engine's reduce-scatters within a node; an exchange of parts as in alltoall-flat",
    cost: "L + 2o + (P-2)·g + (P-1)·(M·G + M·γ), M the bytes of a part, γ the time to combine a byte",
    parameters: &[],
    resources,
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let length = problem.elements;
    let part = |r: Rank| r.0 * length;
    send_parts(problem, rank, out);
    problem.others(rank).for_each(|other| out.wait(Flag(other.0)));
    let place = |r: u32| if r == rank.0 { Place::input(part(rank)) } else { Place::scratch(part(Rank(r))) };
    fold(out, problem.ranks, place, Place::output(0), length);
}
