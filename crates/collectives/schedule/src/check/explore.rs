//! Every interleaving of steps and deliveries, for a few ranks.

use super::error::CheckError;
use super::execution::Execution;
use crate::schedule::Schedule;
use crate::step::Rank;
use std::collections::HashSet;

/// How many states an exploration has visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// States that were visited.
    pub states: usize,
    /// Final states that were reached, with all ranks done.
    pub ends: usize,
    /// Whether there were more states than allowed, so that some were not visited.
    pub cut_off: bool,
}

/// Visits every state that some order of steps and deliveries leads to, up to `max_states` states. States
/// are told apart by everything that decides what can follow, so a state that is reached on several paths
/// is visited once.
pub fn explore<'a>(
    schedule: &'a Schedule,
    epochs: u64,
    max_states: usize,
) -> Result<Exploration, CheckError> {
    let mut seen = HashSet::new();
    let mut found = Exploration { states: 0, ends: 0, cut_off: false };
    let start = Execution::new(schedule, epochs);
    seen.insert(start.fingerprint());
    let mut open = vec![start];
    while let Some(execution) = open.pop() {
        found.states += 1;
        let mut is_final = true;
        let mut visit = |next: Execution<'a>, open: &mut Vec<Execution<'a>>| {
            if seen.len() >= max_states {
                found.cut_off = true;
            } else if seen.insert(next.fingerprint()) {
                open.push(next);
            }
        };
        for rank in (0..execution.ranks()).map(Rank) {
            let mut next = execution.clone();
            if next.advance(rank)? {
                is_final = false;
                visit(next, &mut open);
            }
        }
        for message in 0..execution.in_flight.len() {
            let mut next = execution.clone();
            next.deliver(message);
            is_final = false;
            visit(next, &mut open);
        }
        if is_final {
            execution.deadlock().map_or(Ok(()), Err)?;
            found.ends += 1;
        }
    }
    Ok(found)
}
