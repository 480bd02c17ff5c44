//! All ranks add to one counter, and the last one releases the others.

use super::release::CheckIn;
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Counter, Flag, Rank, RankSet};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "central-counter",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "Each rank adds one to a counter at rank 0; the rank that completes the count tells all.",
    source: "Höfler 2005, section 2.2.1.1, with every rank counted; a counter in shared memory is older \
             than its papers",
    cost: "L + P·o + t_bc",
    parameters: &[],
    resources: |_| Resources::flags(3, 1).and_counters(1),
    round,
};

/// Which rank comes last is not known beforehand, so the release is a multicast to all ranks, the sender
/// included.
fn round(problem: &Problem, _: Rank, round: u32, out: &mut Round) {
    match round {
        0 => out.count(Rank(0), Counter(0), problem.ranks, 2),
        1 => out.multicast(RankSet::range(Rank(0), problem.ranks), Flag(0)),
        _ => out.wait(Flag(0)),
    }
}

/// The same, with the owner of the counter waiting for it.
pub(super) const CHECK_IN: CheckIn = CheckIn {
    name: "central-counter",
    resources: |_| Resources::flags(1, 0).and_counters(1),
    round: |problem, rank, _, out| match rank {
        Rank(0) => out.await_count(Counter(0), problem.ranks - 1),
        _ => out.add(Rank(0), Counter(0)),
    },
};
