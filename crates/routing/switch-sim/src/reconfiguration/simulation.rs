//! Reconfigurations in simulated time, among packets.

use super::change::TopologyChange;
use super::control_network::{ControlEvent, ControlNetwork};
use super::control_parameters::{ControlParameters, Protocol};
use super::cost::ReconfigurationCost;
use super::directed_graph::DirectedGraph;
use super::error::ReconfigurationError;
use super::final_check::check_tables;
use super::protocol::{EpochMessage, Reconfiguration};
use super::simulated_environment::SimulatedEnvironment;
use super::switch_tables::SwitchTables;
use crate::simulator::{Simulator, Workload};
use crate::wiring::Wiring;
use evenkeel_route::SwitchId;

/// Makes a change now, and runs the simulation until all tables are up to date. `graph` is the network
/// before the change, and on return the network after it.
///
/// # Errors
/// Packets are deadlocked, or an invariant does not hold.
pub fn reconfigure(
    simulator: &mut Simulator<SwitchTables>,
    workload: &mut impl Workload,
    graph: &mut DirectedGraph,
    change: TopologyChange,
    protocol: Protocol,
    parameters: ControlParameters,
) -> Result<ReconfigurationCost, ReconfigurationError> {
    reconfigure_all(simulator, workload, graph, &[(0, change)], protocol, parameters)
}

/// Makes several changes, and runs the simulation until all tables are up to date.
///
/// Each change comes with its time in cycles from now, in increasing order. The static protocol handles a
/// change that happens while tables are not up to date. The network must remain connected.
///
/// # Errors
/// Packets are deadlocked, or an invariant does not hold.
pub fn reconfigure_all(
    simulator: &mut Simulator<SwitchTables>,
    workload: &mut impl Workload,
    graph: &mut DirectedGraph,
    changes: &[(u64, TopologyChange)],
    protocol: Protocol,
    parameters: ControlParameters,
) -> Result<ReconfigurationCost, ReconfigurationError> {
    let begun = simulator.now();
    let discarded_before = simulator.discarded().packets;
    let channels = simulator.wiring().channels() as usize;
    let control = ControlNetwork::new(parameters, channels, graph.is_alive.len());
    let wiring = simulator.wiring().clone();
    let mut network = ChangingNetwork {
        wiring,
        environment: SimulatedEnvironment::new(simulator, control),
        workload,
        graph,
        changes,
        protocol,
        parameters,
        reconfigurations: Vec::new(),
        hit: 0,
        addressed: 0,
    };
    let last = network.run(begun)?;
    network.finish()?;
    let ChangingNetwork { environment, hit, addressed, .. } = network;
    Ok(ReconfigurationCost {
        cycles: last - begun,
        discarded: environment.simulator.discarded().packets - discarded_before - hit - addressed,
        hit,
        addressed,
        stopped: environment.stopped_cycles,
        messages: environment.network.messages,
        phits: environment.network.phits,
    })
}

/// A network, its changes, and the reconfigurations that they cause.
struct ChangingNetwork<'a, W> {
    wiring: Wiring,
    environment: SimulatedEnvironment<'a>,
    workload: &'a mut W,
    graph: &'a mut DirectedGraph,
    changes: &'a [(u64, TopologyChange)],
    protocol: Protocol,
    parameters: ControlParameters,
    /// One for each change that has been made.
    reconfigurations: Vec<Reconfiguration>,
    /// Packets that were lost with a switch.
    hit: u64,
    /// Packets that were discarded because their destination is at a changed switch.
    addressed: u64,
}

impl<W: Workload> ChangingNetwork<'_, W> {
    /// Makes all changes, and handles all events. Returns the time of the last event.
    fn run(&mut self, begun: u64) -> Result<u64, ReconfigurationError> {
        let mut last = begun;
        let mut changes = self.changes.iter().peekable();
        loop {
            let event_at = self.environment.network.next_time();
            let is_due = |at: &u64| event_at.is_none_or(|event| begun + at <= event);
            if let Some((at, change)) = changes.next_if(|(at, _)| is_due(at)) {
                self.run_simulator((begun + at).max(self.environment.simulator.now()))?;
                self.make_change(*change, event_at.is_some());
                continue;
            }
            let Some((time, event)) = self.environment.network.next_event() else { return Ok(last) };
            self.run_simulator(time)?;
            self.handle(event);
            last = self.environment.simulator.now();
            self.discard_without_path();
            self.environment.simulator.retry_waiting_heads();
            if !self.environment.simulator.routing.escape_is_acyclic(&self.graph.is_alive) {
                return Err(ReconfigurationError::Cycle { at: last });
            }
        }
    }

    fn run_simulator(&mut self, until: u64) -> Result<(), ReconfigurationError> {
        Ok(self.environment.simulator.run(until, self.workload)?)
    }

    /// Makes a change. If earlier ones are not finished, the static protocol handles it.
    fn make_change(&mut self, change: TopologyChange, is_during_another: bool) {
        let neighbours = change.apply(self.graph);
        self.hit += self.environment.switch_channels(self.graph, change);
        let protocol = if is_during_another { Protocol::Static } else { self.protocol };
        self.environment.simulator.routing.is_changing = protocol != Protocol::Static;
        self.reconfigurations.push(Reconfiguration::start(
            &mut self.environment,
            self.reconfigurations.len() as u8,
            self.graph,
            change,
            &neighbours,
            protocol,
            self.parameters,
        ));
    }

    /// Passes an event to its reconfiguration, unless its switch was removed or has joined a later one.
    fn handle(&mut self, event: ControlEvent<EpochMessage>) {
        let ControlEvent { at, from, message: (epoch, message) } = event;
        let (earlier, later) = self.reconfigurations.split_at_mut(usize::from(epoch) + 1);
        if !self.graph.is_alive[at as usize] || later.iter().any(|r| r.tree.has_joined[at as usize]) {
            return;
        }
        let reconfiguration = &mut earlier[usize::from(epoch)];
        reconfiguration.handle(&mut self.environment, ControlEvent { at, from, message });
        if later.is_empty() {
            self.graph.second_is_up.clone_from(&reconfiguration.graph.second_is_up);
        }
    }

    fn discard_without_path(&mut self) {
        self.discard_addressed(self.reconfigurations.len());
        // In the paper, the overlapped protocol discards packets that have no path at the moment.
        if self.protocol == Protocol::Overlapped {
            // Packets from the hosts of a new switch wait for its tables.
            let new = self.changes.iter().filter(|(_, c)| c.is_addition());
            let new: Vec<SwitchId> = new.map(|(_, c)| SwitchId(c.switch())).collect();
            let wiring = &self.wiring;
            self.environment.simulator.discard_stranded_if(|p| !new.contains(&wiring.switch_of(p.source)));
        }
    }

    /// Discards stranded packets for hosts of the switches of the first `count` changes.
    fn discard_addressed(&mut self, count: usize) {
        let (simulator, wiring) = (&mut self.environment.simulator, &self.wiring);
        for (_, change) in &self.changes[..count] {
            let switch = SwitchId(change.switch());
            self.addressed += simulator.discard_stranded_if(|p| wiring.switch_of(p.destination) == switch);
        }
    }

    /// Discards what is stranded, and checks the final tables.
    fn finish(&mut self) -> Result<(), ReconfigurationError> {
        self.environment.simulator.routing.is_changing = false;
        self.discard_addressed(self.changes.len());
        self.environment.simulator.discard_stranded();
        if let Some(last) = self.reconfigurations.last() {
            *self.graph = last.graph.clone();
            check_tables(self.graph, &self.environment.simulator.routing, &last.target)?;
        }
        Ok(())
    }
}
