//! A state of an explored protocol, and what may follow it.

use super::environment::ExploredEnvironment;
use super::error::{ExplorationError, ProtocolFault, ViolationError};
use crate::reconfiguration::change::TopologyChange;
use crate::reconfiguration::control_network::ControlEvent;
use crate::reconfiguration::control_parameters::{ControlParameters, Protocol};
use crate::reconfiguration::diffusing_computation::DiffusingComputation;
use crate::reconfiguration::directed_graph::DirectedGraph;
use crate::reconfiguration::final_check::{FinalCheckError, check_tables};
use crate::reconfiguration::link_direction::LinkDirection;
use crate::reconfiguration::protocol::{
    EpochMessage, ProtocolMessage, Reconfiguration, ReconfigurationProgress,
};
use crate::reconfiguration::switch_tables::SwitchTables;
use crate::reconfiguration::topology_snapshot::TopologySnapshot;
use crate::wiring::Wiring;
use std::rc::Rc;

/// A network with its reconfigurations.
#[derive(Clone)]
pub(super) struct ExploredState {
    environment: ExploredEnvironment,
    graph: DirectedGraph,
    protocol: Protocol,
    /// One for each change that has been made.
    reconfigurations: Vec<Reconfiguration>,
}

/// By switch: the origin of its three kinds of tables. 0 stands for empty tables, `i + 1` for the target of
/// reconfiguration `i`, and 255 for the tables before all changes.
type TableOrigins = Vec<[u8; 3]>;

/// What distinguishes two states.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct StateKey {
    reconfigurations: Vec<(Vec<bool>, DiffusingComputation, ReconfigurationProgress)>,
    direction: Vec<LinkDirection>,
    tables: TableOrigins,
    pending: Vec<ControlEvent<EpochMessage>>,
    is_stopped: Vec<bool>,
}

impl ExploredState {
    /// The state before all changes.
    pub(super) fn new(
        wiring: &Wiring,
        graph: &DirectedGraph,
        protocol: Protocol,
        fault: ProtocolFault,
    ) -> ExploredState {
        let mut tables = SwitchTables::new(wiring, graph);
        tables.is_changing = true;
        let is_stopped = vec![false; graph.is_alive.len()];
        let environment = ExploredEnvironment { tables, pending: Vec::new(), is_stopped, fault };
        ExploredState { environment, graph: graph.clone(), protocol, reconfigurations: Vec::new() }
    }

    /// What distinguishes this state from others.
    pub(super) fn key(&self) -> StateKey {
        let tables = &self.environment.tables;
        let origins = (0..self.graph.size() as usize)
            .map(|s| {
                [&tables.minimal[s], &tables.escape[s], &tables.previous_escape[s]].map(|t| self.origin(t))
            })
            .collect();
        let mut pending = self.environment.pending.clone();
        // Only the order within a channel matters. Timers of a switch have no order.
        pending.sort_by_key(|e| (e.from, e.at, (e.from == e.at).then_some(e.message)));
        let of_reconfiguration = |r: &Reconfiguration| {
            let mut tree = r.tree.clone();
            tree.children.iter_mut().for_each(|children| children.sort_unstable());
            (r.graph.second_is_up.clone(), tree, r.progress.clone())
        };
        StateKey {
            reconfigurations: self.reconfigurations.iter().map(of_reconfiguration).collect(),
            direction: tables.direction.clone(),
            tables: origins,
            pending,
            is_stopped: self.environment.is_stopped.clone(),
        }
    }

    fn origin(&self, tables: &Option<Rc<TopologySnapshot>>) -> u8 {
        let Some(snapshot) = tables else { return 0 };
        let index = self.reconfigurations.iter().position(|r| Rc::ptr_eq(&r.target, snapshot));
        index.map_or(u8::MAX, |i| i as u8 + 1)
    }

    /// Number of changes that have been made.
    pub(super) fn changes_made(&self) -> usize {
        self.reconfigurations.len()
    }

    /// Makes a change. If an earlier one is not finished, the static protocol handles it.
    pub(super) fn make_change(&mut self, change: TopologyChange) {
        let neighbours = change.apply(&mut self.graph);
        change.update_link_status(&self.graph, &mut self.environment.tables);
        let is_idle = self.environment.pending.is_empty();
        let protocol = if is_idle { self.protocol } else { Protocol::Static };
        self.reconfigurations.push(Reconfiguration::start(
            &mut self.environment,
            self.reconfigurations.len() as u8,
            &self.graph,
            change,
            &neighbours,
            protocol,
            ControlParameters::USUAL,
        ));
    }

    /// The indices of the events that may happen next: all timers, and the first message of each channel.
    pub(super) fn possible_events(&self) -> impl Iterator<Item = usize> + '_ {
        let pending = &self.environment.pending;
        let is_first = |index: &usize| {
            let event = &pending[*index];
            event.from == event.at
                || !pending[..*index].iter().any(|e| (e.from, e.at) == (event.from, event.at))
        };
        (0..pending.len()).filter(is_first)
    }

    /// Lets a pending event happen.
    pub(super) fn handle_event(&mut self, index: usize) {
        let ControlEvent { at, from, message: (epoch, message) } = self.environment.pending.remove(index);
        let (earlier, later) = self.reconfigurations.split_at_mut(usize::from(epoch) + 1);
        if !self.graph.is_alive[at as usize] || later.iter().any(|r| r.tree.has_joined[at as usize]) {
            return;
        }
        let reconfiguration = &mut earlier[usize::from(epoch)];
        let s = at as usize;
        let before = (self.environment.tables.minimal[s].clone(), self.environment.tables.escape[s].clone());
        reconfiguration.handle(&mut self.environment, ControlEvent { at, from, message });
        if later.is_empty() {
            self.graph.second_is_up.clone_from(&reconfiguration.graph.second_is_up);
        }
        if self.environment.fault == ProtocolFault::KeptTables && message == ProtocolMessage::Join {
            (self.environment.tables.minimal[s], self.environment.tables.escape[s]) = before;
        }
    }

    /// Checks what must hold after every event, and after the last one if there are no more changes.
    pub(super) fn check(&self, is_last_change: bool) -> Result<(), ExplorationError> {
        let mut result = self.check_always();
        if result.is_ok() && is_last_change && self.environment.pending.is_empty() {
            result = self.check_end();
        }
        result.map_err(|violation| ExplorationError::Violation {
            violation,
            pending: format!("{:?}", self.environment.pending),
        })
    }

    fn check_always(&self) -> Result<(), ViolationError> {
        let tables = &self.environment.tables;
        if !tables.escape_is_acyclic(&self.graph.is_alive) {
            return Err(ViolationError::Cycle);
        }
        let is_dynamic = self.reconfigurations.len() == 1 && self.reconfigurations[0].is_dynamic();
        if is_dynamic && self.environment.is_stopped.contains(&true) {
            return Err(ViolationError::InjectionStopped);
        }
        if (0..tables.works.len()).any(|c| tables.works[c] && !self.graph.works(c as u32 / 2)) {
            return Err(ViolationError::FailedChannelOffered);
        }
        Ok(())
    }

    fn check_end(&self) -> Result<(), ViolationError> {
        let last = self.reconfigurations.last().expect("a change was made");
        let is_stopped = |s: &usize| self.graph.is_alive[*s] && self.environment.is_stopped[*s];
        if let Some(switch) = (0..self.graph.is_alive.len()).find(is_stopped) {
            return Err(FinalCheckError::InjectionStopped { switch }.into());
        }
        Ok(check_tables(&last.graph, &self.environment.tables, &last.target)?)
    }
}
