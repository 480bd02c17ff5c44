//! In each round the result of a rank covers twice as many ranks below it.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "scan-recursive-doubling",
    collective: Collective::Scan,
    order: CombiningOrder::Ranks,
    about: "In round r each rank sends what it has to the rank 2^r above, and puts what it receives before \
            its own.",
    source: "Hillis, Steele 1986",
    cost: "⌈log₂ P⌉·(L + 2o + M·G + M·γ)",
    parameters: &[],
    resources: |problem| {
        let rounds = ceil_log(2, problem.ranks);
        Resources::flags(rounds + 1, 2 * rounds)
            .and_scratch(u64::from(rounds) * u64::from(problem.elements))
            .in_banks(2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (length, rounds) = (problem.elements, ceil_log(2, problem.ranks));
    let result = Place::output(0);
    if round == 0 {
        return out.copy(Place::input(0), result, length);
    }
    let (far, area) = (power(2, round - 1), Place::scratch((round - 1) * length));
    let (data, read) = (Flag(round - 1), Flag(rounds + round - 1));
    if rank.0 + far < problem.ranks {
        out.wait_previous(read);
        out.send(Rank(rank.0 + far), data, result, area, length);
    }
    if rank.0 >= far {
        out.wait(data);
        out.combine(result, area, result, length);
        out.put(Rank(rank.0 - far), read);
    }
}
