//! The Bruck algorithm: ⌈log₂ P⌉ messages for each rank, but each part travels several times.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "alltoall-bruck",
    collective: Collective::Alltoall,
    order: CombiningOrder::Nothing,
    about: "In round r all parts whose distance has bit r travel 2^r ranks further, in one message; before \
            and after, all rotate.",
    source: "Bruck, Ho, Kipnis, Upfal, Weathersby 1997",
    cost: "⌈log₂ P⌉·(L + 2o + M·G·P/2), M the bytes for one rank, and the copies",
    parameters: &[],
    resources: |problem| {
        let (rounds, ranks) = (ceil_log(2, problem.ranks), problem.ranks);
        let parts = u64::from(ranks) + u64::from(ranks.div_ceil(2)) * u64::from(rounds + 1);
        Resources::flags(rounds + 2, rounds).and_scratch(parts * u64::from(problem.elements)).in_banks(2)
    },
    round,
};

/// A rank's scratch: area i of P holds the part that has to travel i ranks in all; then the packed parts
/// that it sends; then what each round brings.
fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (ranks, length, rounds) = (problem.ranks, problem.elements, ceil_log(2, problem.ranks));
    let area = |i: u32| Place::scratch(i * length);
    let half = ranks.div_ceil(2);
    if round == 0 {
        let upper = ranks - rank.0;
        out.copy(Place::input(rank.0 * length), area(0), upper * length);
        out.copy(Place::input(0), area(upper), rank.0 * length);
    } else if round <= rounds {
        let far = power(2, round - 1);
        let (packed, brought) = (ranks, ranks + half * round);
        let going = || (0..ranks).filter(|i| i & far != 0);
        let count = going().count() as u32;
        going().zip(packed..).for_each(|(i, p)| out.copy(area(i), area(p), length));
        out.send(problem.around(rank, far), Flag(round - 1), area(packed), area(brought), count * length);
        out.wait(Flag(round - 1));
        going().zip(brought..).for_each(|(i, b)| out.copy(area(b), area(i), length));
    } else {
        for i in 0..ranks {
            out.copy(area(i), Place::output(problem.back(rank, i).0 * length), length);
        }
    }
}
