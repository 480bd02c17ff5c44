//! The start of a reconfiguration, and the dispatch of its events.

use super::environment::ProtocolEnvironment;
use super::message::ProtocolMessage;
use super::reconfiguration::{Reconfiguration, ReconfigurationProgress};
use crate::reconfiguration::change::TopologyChange;
use crate::reconfiguration::control_network::ControlEvent;
use crate::reconfiguration::control_parameters::{ControlParameters, Protocol};
use crate::reconfiguration::diffusing_computation::DiffusingComputation;
use crate::reconfiguration::directed_graph::DirectedGraph;
use crate::reconfiguration::region_merge::region_merges;
use crate::reconfiguration::topology_snapshot::TopologySnapshot;

impl Reconfiguration {
    /// Starts a reconfiguration after `change` was made in `graph`. The neighbours of the changed switch
    /// notice it.
    pub fn start(
        environment: &mut impl ProtocolEnvironment,
        epoch: u8,
        graph: &DirectedGraph,
        change: TopologyChange,
        neighbours: &[u32],
        protocol: Protocol,
        parameters: ControlParameters,
    ) -> Reconfiguration {
        let switches = graph.is_alive.len();
        let merges = if protocol == Protocol::Static { Vec::new() } else { region_merges(graph) };
        let mut target = graph.clone();
        for link in merges.iter().flat_map(|merge| merge.links()) {
            target.second_is_up[link as usize] ^= true;
        }
        let reconfiguration = Reconfiguration {
            epoch,
            protocol,
            parameters,
            target: TopologySnapshot::of(&target),
            graph: graph.clone(),
            tree: DiffusingComputation::new(switches),
            merges,
            progress: ReconfigurationProgress::new(switches),
        };
        let noticed = parameters.process_cycles;
        match protocol {
            // All neighbours notice the change, and the flood of the first one wins.
            Protocol::Static | Protocol::Overlapped => {
                reconfiguration.start_timer(environment, noticed, neighbours[0], ProtocolMessage::Join);
            }
            Protocol::Planned => {
                for s in neighbours {
                    reconfiguration.start_timer(environment, noticed, *s, ProtocolMessage::Change);
                }
                if change.is_addition() {
                    let ports = reconfiguration.port_count();
                    let message = ProtocolMessage::Change;
                    reconfiguration.send(environment, neighbours[0], change.switch(), ports, message);
                }
            }
        }
        reconfiguration
    }

    /// A message has arrived at a switch, or a timer of the switch has expired.
    pub fn handle(
        &mut self,
        environment: &mut impl ProtocolEnvironment,
        event: ControlEvent<ProtocolMessage>,
    ) {
        let ControlEvent { at, from, message } = event;
        match message {
            ProtocolMessage::Join => self.join(environment, at, from),
            ProtocolMessage::AlreadyJoined => self.receive_answer(environment, at, from, false),
            ProtocolMessage::Collected => self.receive_answer(environment, at, from, true),
            ProtocolMessage::Topology => self.distribute_topology(environment, at),
            ProtocolMessage::Change => self.flood_change(environment, at, from),
            ProtocolMessage::MinimalTablesReady => self.install_minimal_tables(environment, at),
            ProtocolMessage::EscapeTablesReady => self.install_escape_tables(environment, at),
            ProtocolMessage::Region => self.receive_region(environment, at),
            ProtocolMessage::BorderReport => self.receive_border_report(environment, at),
            ProtocolMessage::StartMerge(border) => self.forward_to_border(environment, at, border),
            ProtocolMessage::Mark(_) => self.mark_towards_root(environment, at, from),
            ProtocolMessage::Marked(_) => self.return_mark(environment, at),
            ProtocolMessage::Reversal(message) => self.receive_reversal(environment, at, from, message),
            ProtocolMessage::Distances => self.flood_distances(environment, at, from),
        }
    }
}
