//! Dissemination.

use super::n_way_dissemination::{needs, tell};
use crate::algorithm::{Algorithm, Operation, Order};

pub static ALGORITHM: Algorithm = Algorithm {
    name: "dissemination",
    operation: Operation::Barrier,
    order: Order::Nothing,
    about: "In round r every rank tells the rank 2^r above it and hears from the rank 2^r below it.",
    source: "Hensgen, Finkel, Manber 1988; Höfler 2005, section 2.2.2.3",
    cost: "(L + 2o)·⌈log₂ P⌉",
    parameters: &[],
    needs: |problem| needs(1, problem.ranks),
    round: |problem, rank, round, out| tell(1, problem, rank, round, out),
};
