//! A tournament of pairs: the loser of each game reports to the winner, and rank 0 wins in the end.

use super::f_way_tournament::{game, resources};
use super::release::{self, CheckIn, RELEASE};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "tournament",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "Ranks meet in pairs; the upper one loses and signals the lower, which plays on; rank 0 wins \
            and releases all.",
    source: "Hensgen, Finkel, Manber 1988; Höfler 2005, section 2.2.1.3, with the winner known beforehand",
    cost: "(L + 2o)·⌈log₂ P⌉ + t_bc",
    parameters: &[RELEASE],
    resources: |problem| release::resources(&CHECK_IN, problem, problem.values[0]),
    round: |problem, rank, round, out| {
        release::round(&CHECK_IN, problem, rank, round, problem.values[0], out)
    },
};

pub(super) const CHECK_IN: CheckIn = CheckIn {
    name: "tournament",
    resources: |problem| resources(2, problem),
    round: |problem, rank, round, out| game(2, problem, rank, round, out),
};
