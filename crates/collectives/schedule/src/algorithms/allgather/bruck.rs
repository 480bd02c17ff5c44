//! The Bruck algorithm: the number of parts that a rank has doubles in each round, for any number of ranks.

use super::resources;
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allgather-bruck",
    collective: Collective::Allgather,
    order: CombiningOrder::Nothing,
    about: "In round r each rank sends the first 2^r parts it has to the rank 2^r below, which appends \
            them to its own; then all rotate.",
    source: "Bruck, Ho, Kipnis, Upfal, Weathersby 1997",
    cost: "⌈log₂ P⌉·(L + 2o) + (P-1)·M·G, M the bytes of one rank",
    parameters: &[],
    resources: |problem| resources(problem, ceil_log(2, problem.ranks) + 1, ceil_log(2, problem.ranks)),
    round,
};

/// Area i holds the part of the rank i further on.
fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (ranks, length) = (problem.ranks, problem.elements);
    let area = |i: u32| Place::scratch(i * length);
    if round == 0 {
        out.copy(Place::input(0), area(0), length);
    }
    if round < ceil_log(2, ranks) {
        let have = power(2, round);
        out.send(problem.back(rank, have), Flag(round), area(0), area(have), have.min(ranks - have) * length);
        out.wait(Flag(round));
    } else {
        let upper = ranks - rank.0;
        out.copy(area(0), Place::output(rank.0 * length), upper * length);
        out.copy(area(upper), Place::output(0), rank.0 * length);
    }
}
