//! The binomial tree: a rank combines the results of its subtree in the order of ranks and sends them on.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "reduce-binomial",
    collective: Collective::Reduce,
    order: CombiningOrder::Ranks,
    about: "In round r every second one of the remaining ranks sends to the rank 2^r below it; rank 0 \
            sends the result to the root.",
    source: "Johnsson, Ho 1989; kept in the order of ranks as by Thakur, Rabenseifner, Gropp 2005, section \
             4.5",
    cost: "⌈log₂ P⌉·(L + 2o + M·G + M·γ), and L + 2o + M·G if the root is not rank 0",
    parameters: &[],
    resources: |problem| {
        let tree = ceil_log(2, problem.ranks);
        let vectors = u64::from(tree) + 2;
        Resources::flags(tree + 1, tree + 2).and_scratch(vectors * u64::from(problem.elements)).in_banks(2)
    },
    round,
};

/// A rank's scratch: the messages of its children, its partial result, and at the root the message of
/// rank 0.
fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (me, ranks, length, tree) = (rank.0, problem.ranks, problem.elements, ceil_log(2, problem.ranks));
    let area = |i: u32| Place::scratch(i * length);
    let (result, at_root) = (area(tree), area(tree + 1));
    let (read, for_root) = (Flag(tree), Flag(tree + 1));
    // The first child of a rank, if it has any, is the next rank.
    let held = |round: u32| if round > 0 && me + 1 < ranks { result } else { Place::input(0) };
    let near = power(2, round);
    if round < tree {
        if me % near == 0 && me / near % 2 == 0 && me + near < ranks {
            out.wait(Flag(round));
            out.combine(result, held(round), area(round), length);
            out.put(Rank(me + near), read);
        } else if me % near == 0 && me / near % 2 == 1 {
            out.wait_previous(read);
            out.send(Rank(me - near), Flag(round), held(round), area(round), length);
        }
    } else if me == 0 && problem.root == rank {
        out.copy(held(tree), Place::output(0), length);
    } else if me == 0 {
        out.wait_previous(read);
        out.send(problem.root, for_root, held(tree), at_root, length);
    } else if problem.root == rank {
        out.wait(for_root);
        out.copy(at_root, Place::output(0), length);
        out.put(Rank(0), read);
    }
}
