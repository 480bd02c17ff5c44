//! Tries every order in which the messages of a link reversal may arrive.

use super::directed_graph::DirectedGraph;
use super::link_direction::LinkDirection;
use super::link_reversal::{LinkReversal, ReversalMessage};
use super::region_merge::RegionMerge;
use super::switch_tables::SwitchTables;
use std::collections::HashSet;
use thiserror::Error;

/// A fault that is injected to show that the exploration notices it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReversalFault {
    /// No fault.
    None,
    /// Links are not marked while they are being reversed.
    NotMarked,
    /// Switches do not wait for their prerequisites.
    NoPrerequisites,
}

/// What an order of messages leads to.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ReversalError {
    /// Escape channels may wait for each other.
    #[error("a cycle of escape channels with {messages} on the way")]
    Cycle {
        /// The messages on their way.
        messages: String,
    },
    /// There is a new root.
    #[error("a new root with {messages} on the way")]
    NewRoot {
        /// The messages on their way.
        messages: String,
    },
    /// The final directions have a cycle.
    #[error("the final directions have a cycle")]
    FinalCycle,
}

/// Messages on their way: the receiver and the message, sorted.
type Messages = Vec<(u32, ReversalMessage)>;

/// A state of a reversal.
#[derive(Clone)]
struct ReversalState {
    reversal: LinkReversal,
    graph: DirectedGraph,
    tables: SwitchTables,
    messages: Messages,
}

impl ReversalState {
    fn send(&mut self, from: u32, message: ReversalMessage) {
        let (ReversalMessage::Reverse(link) | ReversalMessage::Reversed(link)) = message;
        let (a, b) = self.graph.links[link as usize];
        self.messages.push((if a == from { b } else { a }, message));
        self.messages.sort_unstable();
    }

    /// A switch begins.
    fn begin(&mut self, s: u32, fault: ReversalFault) {
        for message in self.reversal.begin(s, &self.graph, &mut self.tables) {
            let ReversalMessage::Reverse(link) = message else { continue };
            self.send(s, message);
            if fault == ReversalFault::NotMarked {
                let channel = self.tables.channel(&self.graph, link, s);
                self.tables.direction[channel] = LinkDirection::Down;
            }
        }
    }

    /// A message arrives.
    fn arrive(&mut self, index: usize, fault: ReversalFault) {
        let (s, message) = self.messages.remove(index);
        if fault == ReversalFault::NoPrerequisites {
            if let Some((_, prerequisites)) = self.reversal.waiting.get_mut(&s) {
                *prerequisites += 1;
            }
        }
        if let Some(answer) = self.reversal.receive(s, message, &mut self.graph, &mut self.tables) {
            self.send(s, answer);
        }
    }

    fn check(&self, roots_before: usize) -> Result<(), ReversalError> {
        let messages = || format!("{:?}", self.messages);
        if !self.tables.escape_is_acyclic(&self.graph.is_alive) {
            return Err(ReversalError::Cycle { messages: messages() });
        }
        if roots(&self.graph, &self.tables) > roots_before {
            return Err(ReversalError::NewRoot { messages: messages() });
        }
        if self.messages.is_empty() && self.reversal.is_finished() && !self.graph.is_acyclic() {
            return Err(ReversalError::FinalCycle);
        }
        Ok(())
    }
}

/// Tries every order in which messages may arrive. Returns the number of states.
///
/// # Errors
/// In some state escape channels may wait for each other, or there is a new root.
pub fn explore_reversal(
    graph: &DirectedGraph,
    tables: &SwitchTables,
    merge: &RegionMerge,
    fault: ReversalFault,
) -> Result<usize, ReversalError> {
    let mut reversal = LinkReversal::new(merge);
    if fault == ReversalFault::NoPrerequisites {
        reversal.waiting.values_mut().for_each(|(_, prerequisites)| *prerequisites = 0);
    }
    let roots_before = roots(graph, tables);
    let mut visited: HashSet<(LinkReversal, Messages, Vec<LinkDirection>)> = HashSet::new();
    let (graph, tables) = (graph.clone(), tables.clone());
    let mut open = vec![ReversalState { reversal, graph, tables, messages: Messages::new() }];
    while let Some(state) = open.pop() {
        let key = (state.reversal.clone(), state.messages.clone(), state.tables.direction.clone());
        if !visited.insert(key) {
            continue;
        }
        state.check(roots_before)?;
        let is_ready = |s: &&u32| state.reversal.waiting[*s].1 == 0;
        for s in state.reversal.waiting.keys().filter(is_ready) {
            let mut next = state.clone();
            next.begin(*s, fault);
            open.push(next);
        }
        for index in 0..state.messages.len() {
            let mut next = state.clone();
            next.arrive(index, fault);
            open.push(next);
        }
    }
    Ok(visited.len())
}

/// Number of working switches for which all neighbours are down.
fn roots(graph: &DirectedGraph, tables: &SwitchTables) -> usize {
    let is_down = |s: u32, link: u32| tables.direction[tables.channel(graph, link, s)] == LinkDirection::Down;
    let is_root =
        |s: &u32| graph.is_alive[*s as usize] && graph.neighbours(*s).all(|(link, _)| is_down(*s, link));
    (0..graph.size()).filter(is_root).count()
}
