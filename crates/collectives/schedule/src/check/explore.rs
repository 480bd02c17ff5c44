//! Every interleaving of steps and deliveries, for a few ranks.

use super::error::CheckError;
use super::execution::Execution;
use crate::schedule::Schedule;
use crate::step::Rank;
use std::collections::HashSet;

/// How much was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    pub states: usize,
    /// Ends that were reached, with all ranks done.
    pub ends: usize,
    /// Whether there were more states than allowed, so that some were not seen.
    pub cut_off: bool,
}

/// Visits every state that any order of steps and deliveries leads to, up to `max_states` states. States are
/// told apart by all that decides what can follow, so that ways that meet again are gone once.
pub fn explore<'a>(schedule: &'a Schedule, epochs: u64, max_states: usize) -> Result<Explored, CheckError> {
    let mut seen = HashSet::new();
    let mut found = Explored { states: 0, ends: 0, cut_off: false };
    let start = Execution::new(schedule, epochs);
    seen.insert(start.state());
    let mut open = vec![start];
    while let Some(machine) = open.pop() {
        found.states += 1;
        let mut stuck = true;
        let mut visit = |next: Execution<'a>, open: &mut Vec<Execution<'a>>| {
            if seen.len() >= max_states {
                found.cut_off = true;
            } else if seen.insert(next.state()) {
                open.push(next);
            }
        };
        for rank in (0..machine.ranks()).map(Rank) {
            let mut next = machine.clone();
            if next.advance(rank)? {
                stuck = false;
                visit(next, &mut open);
            }
        }
        for message in 0..machine.in_flight.len() {
            let mut next = machine.clone();
            next.deliver(message);
            stuck = false;
            visit(next, &mut open);
        }
        if stuck {
            machine.deadlock().map_or(Ok(()), Err)?;
            found.ends += 1;
        }
    }
    Ok(found)
}
