//! Groups of n ranks report to leaders, the leaders form groups of n again, and so on.

use super::release::{self, CheckIn, RELEASE};
use crate::algorithm::{Algorithm, Parameter};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Counter, Rank};

/// Yew, Tzeng and Lawrie, and Höfler, measured 4 as the best value.
pub(super) const WIDTH: Parameter =
    Parameter { name: "n", default: 4, min: 2, max: 1 << 16, choices: &[], about: "ranks in a group" };

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "combining-tree",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "Each group of n counts at its leader; leaders form groups again, until rank 0 is left and \
            releases all.",
    source: "Yew, Tzeng, Lawrie 1987; Höfler 2005, section 2.2.1.2, with a counter for each level",
    cost: "(L + n·o)·⌈log_n P⌉ + t_bc",
    parameters: &[WIDTH, RELEASE],
    resources: |problem| release::resources(&CHECK_IN, problem, problem.values[1]),
    round: |problem, rank, round, out| {
        release::round(&CHECK_IN, problem, rank, round, problem.values[1], out)
    },
};

/// One counter for each level: groups of different levels may have the same leader and count at the same
/// time.
pub(super) const CHECK_IN: CheckIn = CheckIn {
    name: "combining-tree",
    resources: |problem| {
        let levels = ceil_log(problem.values[0], problem.ranks);
        Resources::flags(levels, 0).and_counters(levels)
    },
    round: |problem, rank, level, out| group(problem, rank, level, out),
};

fn group(problem: &Problem, rank: Rank, level: u32, out: &mut Round) {
    let n = problem.values[0];
    let (near, far) = (power(n, level), power(n, level + 1));
    if rank.0 % far == 0 {
        let members = members(problem.ranks, rank.0, near, n);
        out.await_count(Counter(level), members - 1);
    } else if rank.0 % near == 0 {
        out.add(Rank(rank.0 - rank.0 % far), Counter(level));
    }
}

/// How many of the `n` ranks leader, leader + near, … exist.
pub(super) fn members(ranks: u32, leader: u32, near: u32, n: u32) -> u32 {
    n.min((ranks - leader).div_ceil(near))
}
