//! Everybody sends to the root.

use crate::algorithm::{Algorithm, Operation, Order};
use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Needs;
use crate::step::{Place, Rank, RankSet, Slot};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "gather-flat",
    operation: Operation::Gather,
    order: Order::Nothing,
    about: "Everybody sends its vector to the root.",
    source: "linear gather; Alexandrov, Ionescu, Schauser, Scheiman 1995 for its cost",
    cost: "L + 2o + (P-2)·g + (P-1)·M·G",
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
    for r in 0..ranks {
        if r == root.0 {
            out.copy(Place::input(0), Place::output(r * length), length);
        } else {
            out.wait(Slot(r));
            out.copy(Place::scratch(r * length), Place::output(r * length), length);
        }
    }
    out.multicast(RankSet::range(Rank(0), root.0), read);
    out.multicast(RankSet::range(Rank(root.0 + 1), ranks - root.0 - 1), read);
}
