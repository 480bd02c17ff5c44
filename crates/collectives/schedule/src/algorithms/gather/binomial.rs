//! The binomial tree: a rank gathers the vectors of its subtree and sends them on.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "gather-binomial",
    collective: Collective::Gather,
    order: CombiningOrder::Nothing,
    about: "In round r every second one of the remaining ranks sends all it has to the rank 2^r nearer to \
            the root.",
    source: "Johnsson, Ho 1989; Thakur, Rabenseifner, Gropp 2005, section 4 (MPICH's gather of short \
             vectors)",
    cost: "⌈log₂ P⌉·(L + 2o) + (P-1)·M·G",
    parameters: &[],
    resources: |problem| {
        let tree = ceil_log(2, problem.ranks);
        let vectors = u64::from(problem.elements) * u64::from(problem.ranks);
        Resources::flags(tree + 1, tree + 1).and_scratch(vectors).in_banks(2)
    },
    round,
};

/// A rank's scratch: its own vector, then those of the ranks after it, as seen from the root. A last
/// round writes the root's output.
fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (me, ranks, length) = (problem.from_root(rank), problem.ranks, problem.elements);
    let tree = ceil_log(2, ranks);
    let read = Flag(tree);
    if round == tree {
        if me == 0 {
            // Both the ranks after the root and the ranks before it are contiguous here and in the
            // output.
            let (root, after) = (rank.0, ranks - 1 - rank.0);
            out.copy(Place::input(0), Place::output(root * length), length);
            out.copy(Place::scratch(length), Place::output((root + 1) * length), after * length);
            out.copy(Place::scratch((after + 1) * length), Place::output(0), root * length);
            acknowledge(problem, me, tree, read, out);
        }
        return;
    }
    let near = power(2, round);
    if me % near != 0 {
        return;
    }
    if me / near % 2 == 0 {
        if me + near < ranks {
            out.wait(Flag(round));
        }
        return;
    }
    let gathered = near.min(ranks - me);
    let from = if gathered > 1 {
        out.copy(Place::input(0), Place::scratch(0), length);
        Place::scratch(0)
    } else {
        Place::input(0)
    };
    out.wait_previous(read);
    out.send(problem.to_rank(me - near), Flag(round), from, Place::scratch(near * length), gathered * length);
    acknowledge(problem, me, round, read, out);
}

/// Tells the children of the rounds before `until` that their messages have been read.
fn acknowledge(problem: &Problem, me: u32, until: u32, read: Flag, out: &mut Round) {
    let children = (0..until).map(|r| me + power(2, r)).filter(|child| *child < problem.ranks);
    children.for_each(|child| out.put(problem.to_rank(child), read));
}
