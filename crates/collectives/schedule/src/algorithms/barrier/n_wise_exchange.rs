//! Recursive doubling with base n + 1 instead of 2.

use super::n_way_dissemination::PEERS;
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "n-wise-exchange",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "In each round groups of n + 1 exchange flags, all with all; each rank beyond the largest power \
            of n + 1 reports to a rank within.",
    source: "Höfler 2005, section 2.2.6.2, whose listing deadlocks for n ≥ 2: here a rank signals all \
             before it waits for any, and several ranks may report to one",
    cost: "about (L + 2o + (n-1)·max(o, g))·⌊log_(n+1) P⌋ + 2(L + 2o + (n-1)·o); Höfler: (n+2)·max(g, L + \
           2o)·⌈log_(n+1) P⌉",
    parameters: &[PEERS],
    resources: |problem| {
        let (n, rounds) = (problem.values[0], floor_log(problem.values[0] + 1, problem.ranks));
        Resources::flags(rounds + 2, (rounds + 1) * n + 1)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let n = problem.values[0];
    let rounds = floor_log(n + 1, problem.ranks);
    let main = power(n + 1, rounds);
    let (enter, leave) = (|reporter: u32| Flag(rounds * n + reporter - 1), Flag((rounds + 1) * n));
    // There are fewer than (n + 1)·main ranks, so no more than n report to one.
    let reporters = (1..=n)
        .map(|i| (i, u64::from(rank.0) + u64::from(i) * u64::from(main)))
        .take_while(|(_, r)| *r < problem.ranks.into());
    if rank.0 >= main {
        match round {
            0 => out.put(Rank(rank.0 % main), enter(rank.0 / main)),
            r if r == rounds + 1 => out.wait(leave),
            _ => {}
        }
    } else if round == 0 {
        reporters.for_each(|(i, _)| out.wait(enter(i)));
    } else if round <= rounds {
        let near = power(n + 1, round - 1);
        let far = near * (n + 1);
        let base = rank.0 - rank.0 % far;
        for i in 1..=n {
            out.put(Rank(base + (rank.0 - base + i * near) % far), Flag((round - 1) * n + i - 1));
        }
        for i in 1..=n {
            out.wait(Flag((round - 1) * n + i - 1));
        }
    } else {
        reporters.for_each(|(_, r)| out.put(Rank(r as u32), leave));
    }
}
