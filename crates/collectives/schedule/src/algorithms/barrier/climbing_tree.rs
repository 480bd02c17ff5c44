//! The combining tree in which the last rank of each group continues at the next level.

use super::combining_tree::{WIDTH, members};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Counter, Flag, Rank, RankSet};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "climbing-tree",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "Each group of n counts; its last rank counts for it one level further up, and the last of all \
            tells all.",
    source: "Yew, Tzeng, Lawrie 1987; Mellor-Crummey, Scott 1991, section 3.2",
    cost: "(2L + n·o)·⌈log_n P⌉ + t_bc",
    parameters: &[WIDTH],
    resources: |problem| {
        let levels = ceil_log(problem.values[0], problem.ranks);
        Resources::flags(levels + 2, 1).and_counters(levels)
    },
    round,
};

/// No rank waits for the counter of a group to be complete. A rank that is not the last of its group only
/// waits for the release.
fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let n = problem.values[0];
    let levels = ceil_log(n, problem.ranks);
    if round < levels {
        let (near, far) = (power(n, round), power(n, round + 1));
        let leader = rank.0 - rank.0 % far;
        out.count(Rank(leader), Counter(round), members(problem.ranks, leader, near, n), levels + 1);
    } else if round == levels {
        out.multicast(RankSet::range(Rank(0), problem.ranks), Flag(0));
    } else {
        out.wait(Flag(0));
    }
}
