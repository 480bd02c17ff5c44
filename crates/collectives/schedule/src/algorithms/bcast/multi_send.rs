//! The tree of the postal model for a network interface that repeats a message by itself.

use super::postal::{LAMBDA, whole};
use crate::algorithm::{Algorithm, Operation, Order};
use crate::schedule::Needs;

pub static ALGORITHM: Algorithm = Algorithm {
    name: "bcast-multi-send",
    operation: Operation::Bcast,
    order: Order::Nothing,
    about: "As bcast-postal, but each rank hands the vector over once and its network interface sends it to all children.",
    source: "Buntinas, Panda, Duato, Sadayappan 2000 (CANPC)",
    cost: "t_send + (k-1)·t_transmit + t_receive for k children, instead of k·t_send + t_receive",
    parameters: &[LAMBDA],
    needs: |problem| Needs::flags(1, 1).and_counters(1).and_scratch(problem.elements.into()).in_banks(2),
    round: |problem, rank, _, out| whole(problem, rank, true, out),
};
