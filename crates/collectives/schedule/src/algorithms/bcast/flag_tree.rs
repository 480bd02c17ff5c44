//! One payload in a memory that is replicated to all, and a tree of flags that point to it.

use super::{DATA, READ};
use crate::algorithm::{Algorithm, Collective, CombiningOrder, Parameter};
use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-flag-tree",
    collective: Collective::Bcast,
    order: CombiningOrder::Nothing,
    about: "The root writes the vector once into memory that all see; only the flag goes down a tree of r children to a rank.",
    source: "Moorthy, Panda, Sadayappan 2000 (CANPC); with r of P - 1 or more it is their single copy",
    cost: "⌈log_r (P-1)⌉·t_flag_read + (r-1)·t_flag_write + (M + P - 1)·t_slot on a ring of reflective memory",
    parameters: &[Parameter {
        name: "r",
        default: 4,
        min: 1,
        max: 1 << 16,
        choices: &[],
        about: "children of a rank",
    }],
    resources: |problem| {
        Resources::flags(1, 1).and_counters(1).and_scratch(problem.elements.into()).in_banks(2)
    },
    round,
};

/// The flag goes on before the rank reads. Everybody acknowledges to the root: it is the root's memory
/// that all read.
fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let me = problem.from_root(rank);
    if problem.participation(Collective::Bcast, rank).contributes {
        out.await_previous_count(READ, problem.ranks - 1);
        out.share(Place::input(0), Place::scratch(0), problem.elements);
    } else {
        out.wait(DATA);
    }
    let r = u64::from(problem.values[0]);
    let first = u64::from(me) * r + 1;
    for child in (first..first + r).take_while(|child| *child < problem.ranks.into()) {
        out.put(problem.to_rank(child as u32), DATA);
    }
    if me > 0 {
        out.copy(Place::scratch(0), Place::output(0), problem.elements);
        out.add(problem.root, READ);
    }
}
