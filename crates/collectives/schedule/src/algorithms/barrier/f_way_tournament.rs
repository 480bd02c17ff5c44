//! A tournament with f contestants in each game; the first contestant wins by agreement.

use super::release::{self, CheckIn, RELEASE};
use crate::algorithm::{Algorithm, Parameter};
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{ceil_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "f-way-tournament",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "A tournament with f contestants in a game: f - 1 losers signal one winner at the same time.",
    source: "Grunwald, Vajracharya 1994; Höfler 2005, section 2.2.1.4",
    cost: "(L + f·o)·⌈log_f P⌉ + t_bc",
    parameters: &[
        Parameter {
            name: "f",
            default: 4,
            min: 2,
            max: 1 << 12,
            choices: &[],
            about: "contestants in a game",
        },
        RELEASE,
    ],
    resources: |problem| release::resources(&CHECK_IN, problem, problem.values[1]),
    round: |problem, rank, round, out| {
        release::round(&CHECK_IN, problem, rank, round, problem.values[1], out)
    },
};

pub(super) const CHECK_IN: CheckIn = CheckIn {
    name: "f-way-tournament",
    resources: |problem| resources(problem.values[0], problem),
    round: |problem, rank, round, out| game(problem.values[0], problem, rank, round, out),
};

pub(super) fn resources(f: u32, problem: &Problem) -> Resources {
    let games = ceil_log(f, problem.ranks);
    Resources::flags(games, games * (f - 1))
}

/// In each game each loser has a flag of its own at the winner.
pub(super) fn game(f: u32, problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let (near, far) = (power(f, round), power(f, round + 1));
    let flag = |contestant: u32| Flag(round * (f - 1) + contestant - 1);
    if rank.0 % far == 0 {
        for contestant in 1..f {
            if u64::from(rank.0) + u64::from(contestant) * u64::from(near) < problem.ranks.into() {
                out.wait(flag(contestant));
            }
        }
    } else if rank.0 % near == 0 {
        out.put(Rank(rank.0 - rank.0 % far), flag(rank.0 % far / near));
    }
}
