//! Ranks report along a tree that is numbered like a heap (Mellor-Crummey and Scott).

use super::release::{self, CheckIn, RELEASE};
use crate::algorithm::{Algorithm, Parameter};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "mcs",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "A tree with n children for each parent, numbered like a heap: a rank that has heard from its \
            children tells its parent.",
    source: "Mellor-Crummey, Scott 1991; Höfler 2005, section 2.2.1.5",
    cost: "(L + (n+1)·o)·⌈log_n P⌉ + t_bc",
    parameters: &[
        Parameter { name: "n", default: 4, min: 1, max: 1 << 12, choices: &[], about: "children of a rank" },
        RELEASE,
    ],
    resources: |problem| release::resources(&CHECK_IN, problem, problem.values[1]),
    round: |problem, rank, round, out| {
        release::round(&CHECK_IN, problem, rank, round, problem.values[1], out)
    },
};

pub(super) const CHECK_IN: CheckIn = CheckIn {
    name: "mcs",
    resources: |problem| Resources::flags(1, problem.values[0]),
    round: |problem, rank, _, out| climb(problem, rank, out),
};

fn climb(problem: &Problem, rank: Rank, out: &mut Round) {
    let n = problem.values[0];
    let first_child = u64::from(n) * u64::from(rank.0) + 1;
    for i in 0..n {
        if first_child + u64::from(i) < problem.ranks.into() {
            out.wait(Flag(i));
        }
    }
    if rank.0 > 0 {
        out.put(Rank((rank.0 - 1) / n), Flag((rank.0 - 1) % n));
    }
}
