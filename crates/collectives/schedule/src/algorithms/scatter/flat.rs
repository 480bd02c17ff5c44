//! The root sends each rank its part.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Counter, Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "scatter-flat",
    collective: Collective::Scatter,
    order: CombiningOrder::Nothing,
    about: "The root sends each rank its part, one after the other.",
    source: "linear scatter; Alexandrov, Ionescu, Schauser, Scheiman 1995 for its cost",
    cost: "L + 2o + (P-2)·g + (P-1)·M·G, M the bytes of a part",
    parameters: &[],
    resources: |problem| {
        Resources::flags(1, 1).and_counters(1).and_scratch(problem.elements.into()).in_banks(2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, _: u32, out: &mut Round) {
    let (data, read, length) = (Flag(0), Counter(0), problem.elements);
    if !problem.participation(Collective::Scatter, rank).contributes {
        out.wait(data);
        out.copy(Place::scratch(0), Place::output(0), length);
        out.add(problem.root, read);
        return;
    }
    out.copy(Place::input(rank.0 * length), Place::output(0), length);
    out.await_previous_count(read, problem.ranks - 1);
    for to in problem.others(rank) {
        out.send(to, data, Place::input(to.0 * length), Place::scratch(0), length);
    }
}
