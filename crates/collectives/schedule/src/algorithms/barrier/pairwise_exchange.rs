//! Recursive doubling among the largest power of two of the ranks. Each of the other ranks reports to one
//! of these.

use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Flag, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "pairwise-exchange",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "Recursive doubling among a power of two of the ranks; each of the rest reports to one of them, \
            which releases it.",
    source: "Gupta, Tipparaju, Nieplocha, Panda 2002; Höfler 2005, section 2.2.2.2",
    cost: "(L + 2o)·log₂ P for powers of two, else (L + 2o)·(⌊log₂ P⌋ + 2)",
    parameters: &[],
    resources: |problem| {
        let stages = floor_log(2, problem.ranks);
        Resources::flags(stages + 2, stages + 2)
    },
    round,
};

fn round(problem: &Problem, rank: Rank, round: u32, out: &mut Round) {
    let stages = floor_log(2, problem.ranks);
    let main = power(2, stages);
    let (enter, leave) = (Flag(stages), Flag(stages + 1));
    let outside = rank.0 >= main;
    let has_reporter = !outside && rank.0 + main < problem.ranks;
    if round == 0 {
        if outside {
            out.put(Rank(rank.0 - main), enter);
        } else if has_reporter {
            out.wait(enter);
        }
    } else if round <= stages {
        if !outside {
            out.put(Rank(rank.0 ^ power(2, round - 1)), Flag(round - 1));
            out.wait(Flag(round - 1));
        }
    } else if outside {
        out.wait(leave);
    } else if has_reporter {
        out.put(Rank(rank.0 + main), leave);
    }
}
