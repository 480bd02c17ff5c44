//! Operations as tests write them, and their outcomes.

use super::{Job, settings};
use evenkeel_fabric::virtual_network::Faults;
use evenkeel_fabric::{NodeId, Wire, WordWrite};
use evenkeel_primitives::{
    Comparison, EventId, NodeFailure, Operation, OperationError, OperationNumber, Outcome,
};
use std::time::Duration;

/// A job on a network without faults, whose nodes make no calls of their own.
pub fn without_faults(nodes: usize) -> Job {
    Job::new(nodes, settings(), Faults::none(), 1, 0)
}

/// Compares the word at 0.
pub fn compare(comparison: Comparison, value: u64, write: Option<WordWrite>) -> Operation {
    Operation::Compare { variable: 0, comparison, value, write }
}

/// Sets the word at 0 on all nodes, if it is 0 on all.
pub fn set_from_0(value: u64) -> Operation {
    compare(Comparison::Equal, 0, Some(WordWrite { at: 0, value }))
}

/// Writes a word.
pub fn xfer(at: usize, value: u64, event: Option<EventId>) -> Operation {
    Operation::Xfer { at, bytes: value.to_ne_bytes().to_vec(), event }
}

/// Runs the job until a node's operation has its outcome. Returns that, and how long it took.
pub fn result(job: &mut Job, node: usize, number: OperationNumber) -> (Outcome, Duration) {
    let start = job.network.now();
    loop {
        let next = job.network.now() + Duration::from_micros(100);
        job.run_leaving_outcomes(next);
        if let Some(outcome) = job.machines[node].take_outcome(number) {
            return (outcome, job.network.now() - start);
        }
        assert!(job.network.now() < start + Duration::from_secs(1), "the operation has no outcome");
    }
}

/// Runs one operation to its end.
pub fn carry_out(job: &mut Job, node: usize, set: &[usize], operation: Operation) -> Outcome {
    let number = job.start(node, set, operation);
    result(job, node, number).0
}

/// The word at an offset, of all nodes.
pub fn words(job: &Job, at: usize) -> Vec<u64> {
    job.wires.iter().map(|wire| wire.memory().load(at)).collect()
}

/// The outcome of an operation that fails because a node is silent.
pub fn silent(node: u32, undone: bool) -> Outcome {
    Err(OperationError { node: NodeId(node), failure: NodeFailure::Silent, undone })
}
