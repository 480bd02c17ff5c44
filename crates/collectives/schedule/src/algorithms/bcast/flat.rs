//! The root sends to each rank itself.

use super::{DATA, READ, receive};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-flat",
    collective: Collective::Bcast,
    order: CombiningOrder::Nothing,
    about: "The root sends the vector to one rank after the other.",
    source: "linear broadcast; Karp, Sahay, Santos, Schauser 1993 say when it is best",
    cost: "L + 2o + (P-2)·g + (P-1)·M·G",
    parameters: &[],
    resources: |problem| {
        Resources::flags(1, 1).and_counters(1).and_scratch(problem.elements.into()).in_banks(2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    if !problem.participation(Collective::Bcast, rank).contributes {
        return receive(problem, problem.root, out);
    }
    out.await_previous_count(READ, problem.ranks - 1);
    for to in problem.others(rank) {
        out.send(to, DATA, Place::input(0), Place::scratch(0), problem.elements);
    }
}
