//! The second half of a barrier that gathers at rank 0: how rank 0 releases the other ranks.

use crate::algorithm::Parameter;
use crate::problem::Problem;
use crate::radix::{ceil_log, floor_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank, RankSet};

/// The first half of such a barrier. Afterwards rank 0 knows that all ranks have entered.
#[derive(Clone, Copy)]
pub(super) struct CheckIn {
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares it with the algorithm's name"))]
    pub name: &'static str,
    pub resources: fn(&Problem) -> Resources,
    pub round: fn(&Problem, Rank, u32, &mut Round),
}

/// How rank 0 spreads the release.
pub(super) const RELEASE: Parameter = Parameter {
    name: "release",
    default: 0,
    min: 0,
    max: 1,
    choices: &["multicast", "binomial"],
    about: "how rank 0 releases the others: one multicast, or a binomial tree of puts",
};

/// The resources of a check-in and the release after it. `kind` is the value of [`RELEASE`].
pub(super) fn resources(check_in: &CheckIn, problem: &Problem, kind: u32) -> Resources {
    let resources = (check_in.resources)(problem);
    Resources {
        rounds: resources.rounds + rounds(kind, problem.ranks),
        flags: resources.flags + 1,
        ..resources
    }
}

/// A round of a check-in and the release after it. The release uses the flag after those of the check-in.
pub(super) fn round(
    check_in: &CheckIn,
    problem: &Problem,
    rank: Rank,
    round: u32,
    kind: u32,
    out: &mut Round,
) {
    let resources = (check_in.resources)(problem);
    if round < resources.rounds {
        (check_in.round)(problem, rank, round, out);
    } else {
        release(kind, problem.ranks, rank, round - resources.rounds, Flag(resources.flags), out);
    }
}

fn rounds(kind: u32, ranks: u32) -> u32 {
    if kind == 0 { 1 } else { ceil_log(2, ranks) }
}

fn release(kind: u32, ranks: u32, rank: Rank, round: u32, flag: Flag, out: &mut Round) {
    match (kind, rank) {
        (0, Rank(0)) => out.multicast(RankSet::range(Rank(1), ranks - 1), flag),
        (0, _) => out.wait(flag),
        _ => {
            // In round s the ranks below 2^s are released, and each releases the rank 2^s above it.
            let known = power(2, round);
            if rank.0 > 0 && floor_log(2, rank.0) == round {
                out.wait(flag);
            } else if rank.0 < known && rank.0 + known < ranks {
                out.put(Rank(rank.0 + known), flag);
            }
        }
    }
}
