//! Everybody hands in, and combines what those below handed in with its own.

use crate::algorithm::{Algorithm, Collective, CombiningOrder};
use crate::algorithms::prefix;
use crate::step::{Place, Rank};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "scan-flat",
    collective: Collective::Scan,
    order: CombiningOrder::Fold,
    about: "Everybody sends its vector to all ranks above it, which combine what comes from below, and then their own, in the order of ranks.",
    source: "the engine's scans within a node; the definition, written out",
    cost: "L + 2o + (P-2)·g + (P-1)·(M·G + M·γ), γ the time to combine a byte",
    parameters: &[],
    resources: prefix::resources,
    round: |problem, rank, _, out| {
        let place = |other: Rank| {
            if other == rank { Place::input(0) } else { Place::scratch(other.0 * problem.elements) }
        };
        prefix::round(Collective::Scan, problem, rank, out, place);
    },
};
