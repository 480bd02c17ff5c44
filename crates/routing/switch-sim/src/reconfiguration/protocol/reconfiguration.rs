//! One reconfiguration: its data.

use super::environment::ProtocolEnvironment;
use super::message::ProtocolMessage;
use crate::reconfiguration::control_network::ControlMessage;
use crate::reconfiguration::control_parameters::{ControlParameters, Protocol};
use crate::reconfiguration::diffusing_computation::DiffusingComputation;
use crate::reconfiguration::directed_graph::DirectedGraph;
use crate::reconfiguration::link_reversal::LinkReversal;
use crate::reconfiguration::region_merge::RegionMerge;
use crate::reconfiguration::topology_snapshot::TopologySnapshot;
use std::rc::Rc;

/// A reconfiguration that is going on.
#[derive(Clone)]
pub(crate) struct Reconfiguration {
    /// Its number. Switches that have joined a later one ignore it.
    pub epoch: u8,
    pub(super) protocol: Protocol,
    pub(super) parameters: ControlParameters,
    /// The graph with its present directions.
    pub graph: DirectedGraph,
    /// What all switches will know in the end.
    pub target: Rc<TopologySnapshot>,
    /// The tree along which the topology is collected and distributed.
    pub tree: DiffusingComputation,
    pub(super) merges: Vec<RegionMerge>,
    pub progress: ReconfigurationProgress,
}

/// What changes during a reconfiguration, apart from the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReconfigurationProgress {
    /// The index of the merge that is next or going on.
    pub(super) current_merge: usize,
    /// The reversals of that merge, once they have begun.
    pub(super) reversal: Option<LinkReversal>,
    /// By switch: whether it knows the change (planned protocol).
    pub(super) knows_change: Vec<bool>,
    /// By switch: how many neighbours have announced their region to it.
    pub(super) regions_received: Vec<u32>,
    /// By switch: whether it has announced its region.
    pub(super) has_announced_region: Vec<bool>,
    /// By switch: how many children have reported their borders to it.
    pub(super) reports_received: Vec<u32>,
    /// By switch: whether it has sent its distances.
    pub(super) has_sent_distances: Vec<bool>,
    /// By switch between the border and the false root: the neighbour towards the border.
    pub(super) marked_by: Vec<Option<u32>>,
}

impl ReconfigurationProgress {
    /// No switch has done anything.
    pub(super) fn new(switches: usize) -> ReconfigurationProgress {
        ReconfigurationProgress {
            current_merge: 0,
            reversal: None,
            knows_change: vec![false; switches],
            regions_received: vec![0; switches],
            has_announced_region: vec![false; switches],
            reports_received: vec![0; switches],
            has_sent_distances: vec![false; switches],
            marked_by: vec![None; switches],
        }
    }
}

impl Reconfiguration {
    /// Whether traffic continues during this reconfiguration.
    pub fn is_dynamic(&self) -> bool {
        self.protocol != Protocol::Static
    }

    /// Number of ports of the whole network, which a message with the topology lists.
    pub(super) fn port_count(&self) -> u32 {
        (0..self.graph.size()).map(|s| self.graph.neighbours(s).count() as u32).sum()
    }

    /// The time of a switch to compute one kind of tables.
    pub(super) fn table_cycles(&self) -> u64 {
        self.parameters.table_cycles * self.graph.is_alive.iter().filter(|a| **a).count() as u64
    }

    /// Sends a message that lists `ports` ports to a neighbour. If the neighbour is not connected any more,
    /// nothing is sent.
    pub(super) fn send(
        &self,
        environment: &mut impl ProtocolEnvironment,
        from: u32,
        to: u32,
        ports: u32,
        message: ProtocolMessage,
    ) {
        let Some((link, _)) = self.graph.neighbours(from).find(|(_, n)| *n == to) else { return };
        let channel = environment.tables().channel(&self.graph, link, from);
        let phits = self.parameters.message_phits + ports * self.parameters.port_phits;
        environment.send(ControlMessage { channel, from, to, phits, message: (self.epoch, message) });
    }

    /// Starts a timer of a switch.
    pub(super) fn start_timer(
        &self,
        environment: &mut impl ProtocolEnvironment,
        cycles: u64,
        at: u32,
        message: ProtocolMessage,
    ) {
        environment.start_timer(cycles, at, (self.epoch, message));
    }
}
