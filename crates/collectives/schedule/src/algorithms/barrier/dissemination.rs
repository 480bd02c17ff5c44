//! Dissemination: in round r each rank signals the rank at distance 2^r.

use super::n_way_dissemination::{resources, signal};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "dissemination",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "In round r each rank signals the rank 2^r above it and waits for the rank 2^r below it.",
    source: "Hensgen, Finkel, Manber 1988; Höfler 2005, section 2.2.2.3",
    cost: "(L + 2o)·⌈log₂ P⌉",
    parameters: &[],
    resources: |problem| resources(1, problem.ranks),
    round: |problem, rank, round, out| signal(1, problem, rank, round, out),
};
