//! Everybody hands in, and combines what those below handed in.

use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms::prefix;
use crate::step::Place;

pub static ALGORITHM: Algorithm = Algorithm {
    name: "exscan-flat",
    collective: Collective::Exscan,
    order: CombiningOrder::Fold,
    about: "Everybody sends its vector to all ranks above it, which combine what comes from below in the order of ranks.",
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
