//! Every rank contributes, and combines the contributions of the ranks below.

use crate::algorithm::Algorithm;
use crate::algorithms::prefix;
use crate::collective::{Collective, CombiningOrder};
use crate::step::Place;

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "exscan-flat",
    collective: Collective::Exscan,
    order: CombiningOrder::Fold,
    about: "Each rank sends its vector to all ranks above it, and combines the vectors from below in the \
            order of ranks.",
    source: "the engine's exclusive scans within a node; the definition, written out",
    cost: "L + 2o + (P-2)·g + (P-1)·(M·G + M·γ), γ the time to combine a byte",
    parameters: &[],
    resources: prefix::resources,
    round: |problem, rank, _, out| {
        prefix::round(Collective::Exscan, problem, rank, out, |other| {
            Place::scratch(other.0 * problem.elements)
        })
    },
};
