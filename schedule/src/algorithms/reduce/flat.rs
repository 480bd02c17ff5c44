//! The root combines all.

use crate::algorithm::{Algorithm, Operation, Order};
use crate::algorithms::fold::fold;
use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Needs;
use crate::step::{Place, Rank, RankSet, Slot};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "reduce-flat",
    operation: Operation::Reduce,
    order: Order::Fold,
    about: "Everybody sends its vector to the root, which combines them in the order of ranks.",
    source: "linear reduction; the grouping is the engine's",
    cost: "L + 2o + (P-2)·g + (P-1)·(M·G + M·γ), γ the time to combine a byte",
    parameters: &[],
    needs: |problem| {
        let vectors = u64::from(problem.elements) * u64::from(problem.ranks);
        Needs::flags(1, problem.ranks + 1).and_scratch(vectors).in_banks(2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let (root, ranks, length) = (problem.root, problem.ranks, problem.elements);
    let read = Slot(ranks);
    if rank != root {
        out.wait_previous(read);
        out.send(root, Slot(rank.0), Place::input(0), Place::scratch(rank.0 * length), length);
        return;
    }
    (0..ranks).filter(|r| *r != root.0).for_each(|r| out.wait(Slot(r)));
    let place = |r: u32| if r == root.0 { Place::input(0) } else { Place::scratch(r * length) };
    fold(out, ranks, place, Place::output(0), length);
    out.multicast(RankSet::range(Rank(0), root.0), read);
    out.multicast(RankSet::range(Rank(root.0 + 1), ranks - root.0 - 1), read);
}
