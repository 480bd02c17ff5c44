//! A reduction to rank 0 and a broadcast from there.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, floor_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "allreduce-reduce-broadcast",
    collective: Collective::Allreduce,
    order: CombiningOrder::Ranks,
    about: "Up a binomial tree to rank 0, in the order of ranks, and down another tree to all.",
    source: "Moorthy, Panda, Sadayappan 2000 (CANPC) name it as the usual method; any textbook",
    cost: "2·⌈log₂ P⌉·(L + 2o + M·G) + ⌈log₂ P⌉·M·γ",
    parameters: &[],
    resources: |problem| {
        let tree = ceil_log(2, problem.ranks);
        Resources::flags(2 * tree + 1, tree + 1).and_scratch(u64::from(tree) * u64::from(problem.elements))
    },
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (me, ranks, length, tree) = (rank.0, problem.ranks, problem.elements, ceil_log(2, problem.ranks));
    let result = Place::output(0);
    if round == 0 {
        out.copy(Place::input(0), result, length);
    } else if round <= tree {
        let (near, area) = (power(2, round - 1), Place::scratch((round - 1) * length));
        if me % near == 0 && me / near % 2 == 0 && me + near < ranks {
            out.wait(Flag(round - 1));
            out.combine(result, result, area, length);
        } else if me % near == 0 && me / near % 2 == 1 {
            out.send(Rank(me - near), Flag(round - 1), result, area, length);
        }
    } else {
        let known = power(2, round - tree - 1);
        if me > 0 && known == power(2, floor_log(2, me)) {
            out.wait(Flag(tree));
        } else if me < known && me + known < ranks {
            // All ranks have entered and have sent what their output held.
            out.send(Rank(me + known), Flag(tree), result, result, length);
        }
    }
}
