//! The binomial tree: in each round, every rank that has the vector sends it to one that has not.

use super::{DATA, READ, own, receive};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, floor_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-binomial",
    collective: Collective::Bcast,
    order: CombiningOrder::Nothing,
    about: "In round r each of the 2^r ranks that have the vector sends it to one that does not have it.",
    source: "Johnsson, Ho 1989; Höfler 2005, section 2.2.1 (t_bc)",
    cost: "⌈log₂ P⌉·(L + 2o + M·G)",
    parameters: &[],
    resources: |problem| {
        Resources::flags(ceil_log(2, problem.ranks), 1)
            .and_counters(1)
            .and_scratch(problem.elements.into())
            .in_banks(2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let me = problem.from_root(rank);
    let (known, last) = (power(2, round), ceil_log(2, problem.ranks));
    // The round in which the rank receives; the root has the vector from the beginning.
    let received = if me == 0 { None } else { Some(floor_log(2, me)) };
    if received == Some(round) {
        receive(problem, problem.to_rank(me - known), out);
    } else if received.is_none_or(|received| received < round) {
        let first = received.map_or(0, |received| received + 1);
        let reached = |r: u32| u64::from(me) + u64::from(power(2, r)) < problem.ranks.into();
        if round == first {
            out.await_previous_count(READ, (first..last).filter(|r| reached(*r)).count() as u32);
        }
        if reached(round) {
            out.send(
                problem.to_rank(me + known),
                DATA,
                own(problem, rank),
                Place::scratch(0),
                problem.elements,
            );
        }
    }
}
