//! One counter for all.

use super::release::CheckIn;
use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::problem::Problem;
use crate::round::Round;
use crate::schedule::Resources;
use crate::step::{Counter, Flag, Rank, RankSet};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "central-counter",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "Everybody adds one to a counter at rank 0; who makes it full tells all.",
    source: "Höfler 2005, section 2.2.1.1, with every rank counted; a counter in shared memory is older than its papers",
    cost: "L + P·o + t_bc",
    parameters: &[],
    resources: |_| Resources::flags(3, 1).and_counters(1),
    round,
};

/// Who comes last is not known beforehand, so the release is a multicast; the last tells itself too.
fn round(problem: &Problem, _: Rank, round: u32, out: &mut Round) {
    match round {
        0 => out.count(Rank(0), Counter(0), problem.ranks, 2),
        1 => out.multicast(RankSet::range(Rank(0), problem.ranks), Flag(0)),
        _ => out.wait(Flag(0)),
    }
}

/// The same with the counter's owner waiting for it.
pub const CHECK_IN: CheckIn = CheckIn {
    name: "central-counter",
    resources: |_| Resources::flags(1, 0).and_counters(1),
    round: |problem, rank, _, out| match rank {
        Rank(0) => out.await_count(Counter(0), problem.ranks - 1),
        _ => out.add(Rank(0), Counter(0)),
    },
};
