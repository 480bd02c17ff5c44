//! Runs a whole protocol on a tiny network in every order of events, with further changes at every moment.
//!
//! The exploration assumes only that messages on the same channel arrive in order. Any message may be late,
//! which covers messages that are lost and sent again. There are no packets: they move by the tables alone,
//! and the dependencies that the tables allow are checked after every event.

mod environment;
mod error;
mod state;

pub use error::{ExplorationError, ProtocolFault, ViolationError};

use super::change::TopologyChange;
use super::control_parameters::Protocol;
use super::directed_graph::DirectedGraph;
use crate::wiring::Wiring;
use state::ExploredState;
use std::collections::HashSet;

/// Tries every order of the events of a protocol after the first change. The other changes happen in their
/// order, at every moment. Returns the number of states.
///
/// # Errors
/// An invariant does not hold in a state, or there are more than `max_states`.
pub fn explore_protocol(
    wiring: &Wiring,
    graph: &DirectedGraph,
    changes: &[TopologyChange],
    protocol: Protocol,
    fault: ProtocolFault,
    max_states: usize,
) -> Result<usize, ExplorationError> {
    let mut first = ExploredState::new(wiring, graph, protocol, fault);
    first.make_change(changes[0]);
    let mut visited = HashSet::new();
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        if !visited.insert(state.key()) {
            continue;
        }
        if visited.len() > max_states {
            return Err(ExplorationError::TooManyStates { max_states });
        }
        let next_change = changes.get(state.changes_made());
        state.check(next_change.is_none())?;
        if let Some(change) = next_change {
            let mut next = state.clone();
            next.make_change(*change);
            open.push(next);
        }
        for index in state.possible_events() {
            let mut next = state.clone();
            next.handle_event(index);
            open.push(next);
        }
    }
    Ok(visited.len())
}
