//! Dissemination.

use super::n_way_dissemination::{resources, tell};
use crate::algorithm::{Algorithm, Collective, CombiningOrder};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "dissemination",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "In round r every rank tells the rank 2^r above it and hears from the rank 2^r below it.",
    source: "Hensgen, Finkel, Manber 1988; Höfler 2005, section 2.2.2.3",
    cost: "(L + 2o)·⌈log₂ P⌉",
    parameters: &[],
    resources: |problem| resources(1, problem.ranks),
    round: |problem, rank, round, out| tell(1, problem, rank, round, out),
};
