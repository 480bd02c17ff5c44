//! The binomial tree.

use super::{DATA, READ, own, receive};
use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, floor_log, power};
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-binomial",
    collective: Collective::Bcast,
    order: CombiningOrder::Nothing,
    about: "In round r the 2^r ranks that have the vector each send it to one that has not.",
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
    // The round in which it hears; the root has known before.
    let heard = if me == 0 { None } else { Some(floor_log(2, me)) };
    if heard == Some(round) {
        receive(problem, problem.to_rank(me - known), out);
    } else if heard.is_none_or(|heard| heard < round) {
        let first = heard.map_or(0, |heard| heard + 1);
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
