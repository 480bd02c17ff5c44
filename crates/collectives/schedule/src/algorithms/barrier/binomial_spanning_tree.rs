//! Ranks report along the binomial tree that spans a hypercube.

use super::release::{self, CheckIn, RELEASE};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, floor_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "binomial-spanning-tree",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "A rank's parent is its number without the highest 1; a rank that has heard from all its \
            children tells its parent.",
    source: "Tzeng, Huang, Chen 1997; Höfler 2005, section 2.2.1.6",
    cost: "(L + 2o)·log₂ P + t_bc for powers of two, else (L + 3o)·⌈log₂ P⌉ + t_bc",
    parameters: &[RELEASE],
    resources: |problem| release::resources(&CHECK_IN, problem, problem.values[0]),
    round: |problem, rank, round, out| {
        release::round(&CHECK_IN, problem, rank, round, problem.values[0], out)
    },
};

pub(super) const CHECK_IN: CheckIn = CheckIn {
    name: "binomial-spanning-tree",
    resources: |problem| Resources::flags(1, ceil_log(2, problem.ranks)),
    round: |problem, rank, _, out| climb(problem, rank, out),
};

/// A child raises the flag of the bit in which it differs from its parent.
fn climb(problem: &Problem, rank: Rank, out: &mut Round) {
    let own = if rank.0 == 0 { 0 } else { floor_log(2, rank.0) + 1 };
    // The most distant child has the largest subtree and reports last.
    for bit in own..ceil_log(2, problem.ranks) {
        if u64::from(rank.0) + u64::from(power(2, bit)) < problem.ranks.into() {
            out.wait(Flag(bit));
        }
    }
    if rank.0 > 0 {
        out.put(Rank(rank.0 - power(2, own - 1)), Flag(own - 1));
    }
}
