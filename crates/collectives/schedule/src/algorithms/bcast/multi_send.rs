//! The tree of the postal model for a network interface that repeats a message by itself.

use super::postal::{LAMBDA, whole};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, CombiningOrder};
use crate::resources::Resources;

pub(crate) static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-multi-send",
    collective: Collective::Bcast,
    order: CombiningOrder::Nothing,
    about: "As bcast-postal, but each rank gives the vector to its network interface once, which sends it \
            to all children.",
    source: "Buntinas, Panda, Duato, Sadayappan 2000 (CANPC)",
    cost: "t_send + (k-1)·t_transmit + t_receive for k children, instead of k·t_send + t_receive",
    parameters: &[LAMBDA],
    resources: |problem| {
        Resources::flags(1, 1).and_counters(1).and_scratch(problem.elements.into()).in_banks(2)
    },
    round: |problem, rank, _, out| whole(problem, rank, true, out),
};
