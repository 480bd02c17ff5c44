//! Every rank contributes, and combines the contributions of the ranks below with its own.

use crate::algorithm::Algorithm;
use crate::algorithms::prefix;
use crate::collective::{Collective, CombiningOrder};
use crate::step::{Place, Rank};

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "scan-flat",
    collective: Collective::Scan,
    order: CombiningOrder::Fold,
    about: "Each rank sends its vector to all ranks above it, and combines the vectors from below, then \
            its own, in the order of ranks.",
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
