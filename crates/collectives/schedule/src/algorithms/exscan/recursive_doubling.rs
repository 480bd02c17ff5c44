//! A scan by recursive doubling, then a shift by one rank.

use super::{READ, RESULT};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "exscan-recursive-doubling",
    collective: Collective::Exscan,
    order: CombiningOrder::Ranks,
    about: "A scan by recursive doubling among all ranks but the last; then each rank sends its sum to the \
            rank above as its result.",
    source: "Hillis, Steele 1986, for the scan; then a shift by one rank",
    cost: "(⌈log₂ (P-1)⌉ + 1)·(L + 2o + M·G) + ⌈log₂ (P-1)⌉·M·γ",
    parameters: &[],
    resources: |problem| {
        let rounds = doublings(problem);
        Resources::flags(rounds + 2, 2 * rounds + 2)
            .and_scratch(u64::from(rounds + 2) * u64::from(problem.elements))
            .in_banks(2)
    },
    round,
};

/// Rounds of the scan among all ranks but the last, whose sum no rank needs.
fn doublings(problem: &Problem) -> u32 {
    ceil_log(2, (problem.ranks - 1).max(1))
}

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (length, rounds, is_last) = (problem.elements, doublings(problem), rank.0 + 1 == problem.ranks);
    let (came, sum) = (Place::scratch(0), Place::scratch(length));
    // Whether the rank so far above needs a sum: it does if it sends itself.
    let reaches = |far: u32| rank.0 + far + 1 < problem.ranks;
    if round == 0 {
        if !is_last {
            out.copy(Place::input(0), sum, length);
        }
    } else if round <= rounds {
        let (far, area) = (power(2, round - 1), Place::scratch((round + 1) * length));
        let (data, read) = (Flag(2 * round), if far == 1 { READ } else { Flag(2 * round + 1) });
        if reaches(far) {
            out.wait_previous(read);
            out.send(Rank(rank.0 + far), data, sum, area, length);
        }
        if rank.0 >= far && !is_last {
            out.wait(data);
            out.combine(sum, area, sum, length);
            if far > 1 {
                out.put(Rank(rank.0 - far), read); // the rank directly below is told at the end
            }
        }
    } else {
        if !is_last {
            if !reaches(1) {
                out.wait_previous(READ);
            }
            out.send(Rank(rank.0 + 1), RESULT, sum, came, length);
        }
        if rank.0 > 0 {
            out.wait(RESULT);
            out.copy(came, Place::output(0), length);
            out.put(Rank(rank.0 - 1), READ);
        }
    }
}
