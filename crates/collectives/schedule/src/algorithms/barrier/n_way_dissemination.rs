//! Dissemination with n messages in each round.

use crate::algorithm::{Algorithm, Parameter};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank};

/// The number of messages that a rank sends in a round.
pub(super) const PEERS: Parameter = Parameter {
    name: "n",
    default: 2,
    min: 1,
    max: 1 << 12,
    choices: &[],
    about: "messages of a rank in a round",
};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "n-way-dissemination",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "In round r each rank signals the n ranks at distances (n+1)^r, 2(n+1)^r, …, n(n+1)^r, then \
            waits for as many.",
    source: "Höfler 2005, section 2.2.6.1, with all messages of a round sent before the first is waited for",
    cost: "about (L + 2o + (n-1)·max(o, g))·⌈log_(n+1) P⌉; Höfler: n·max(g, L + 2o)·⌈log_(n+1) P⌉",
    parameters: &[PEERS],
    resources: |problem| resources(problem.values[0], problem.ranks),
    round: |problem, rank, round, out| signal(problem.values[0], problem, rank, round, out),
};

pub(super) fn resources(n: u32, ranks: u32) -> Resources {
    let rounds = ceil_log(n + 1, ranks);
    Resources::flags(rounds, rounds * n)
}

/// Distances of P and more would wrap around to ranks that have been signalled already, and are left out.
pub(super) fn signal(n: u32, problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let reach = power(n + 1, round);
    let distances = |i: &u32| u64::from(*i) * u64::from(reach) < problem.ranks.into();
    for i in (1..=n).take_while(distances) {
        out.put(problem.around(rank, i * reach), Flag(round * n + i - 1));
    }
    for i in (1..=n).take_while(distances) {
        out.wait(Flag(round * n + i - 1));
    }
}
