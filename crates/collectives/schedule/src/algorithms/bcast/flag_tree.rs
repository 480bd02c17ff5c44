//! One payload in a memory that is replicated to all ranks, and a tree of flags that announce it.

use super::{DATA, READ};
use crate::algorithm::{Algorithm, Parameter};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-flag-tree",
    collective: Collective::Bcast,
    order: CombiningOrder::Nothing,
    about: "The root writes the vector once into memory that all see; only the flag travels down a tree \
            with r children for each rank.",
    source: "Moorthy, Panda, Sadayappan 2000 (CANPC); with r of P - 1 or more it is their single copy",
    cost: "⌈log_r (P-1)⌉·t_flag_read + (r-1)·t_flag_write + (M + P - 1)·t_slot on a ring of reflective \
           memory",
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

/// A rank passes the flag on before it reads the vector. All ranks acknowledge to the root, because they
/// read the root's memory.
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
