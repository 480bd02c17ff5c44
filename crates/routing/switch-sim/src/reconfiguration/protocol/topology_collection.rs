//! Collecting the topology along a tree, and distributing it; or flooding the change alone.

use super::environment::ProtocolEnvironment;
use super::message::ProtocolMessage;
use super::reconfiguration::Reconfiguration;
use crate::reconfiguration::control_parameters::Protocol;
use crate::reconfiguration::topology_snapshot::TopologySnapshot;

impl Reconfiguration {
    /// A switch is invited to join the tree. `from` is the switch itself if it is the root.
    pub(super) fn join(&mut self, environment: &mut impl ProtocolEnvironment, s: u32, from: u32) {
        if self.tree.has_joined[s as usize] {
            return self.send(environment, s, from, 0, ProtocolMessage::AlreadyJoined);
        }
        if self.protocol == Protocol::Static {
            // Nothing moves here until there are new tables.
            environment.tables().clear(s);
            environment.discard_packets_at(s);
            environment.allow_injection(s, false);
        }
        for n in self.tree.join(&self.graph, s, (from != s).then_some(from)) {
            self.send(environment, s, n, 0, ProtocolMessage::Join);
        }
        self.report_subtree(environment, s);
    }

    /// A neighbour has answered an invitation: as a child with the topology of its subtree, or because it
    /// had joined before.
    pub(super) fn receive_answer(
        &mut self,
        environment: &mut impl ProtocolEnvironment,
        s: u32,
        from: u32,
        is_child: bool,
    ) {
        self.tree.receive_answer(s, from, is_child);
        self.report_subtree(environment, s);
    }

    /// If all neighbours of a switch have answered, it sends the topology of its subtree to its parent. The
    /// root then knows the whole topology.
    fn report_subtree(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        if !self.tree.is_complete(s) {
            return;
        }
        if let Some(parent) = self.tree.parent[s as usize] {
            let ports = self.tree.ports[s as usize];
            return self.send(environment, s, parent, ports, ProtocolMessage::Collected);
        }
        if self.protocol == Protocol::Static {
            self.use_directions_of_tree(environment);
        }
        self.start_timer(environment, 0, s, ProtocolMessage::Topology);
        if self.protocol == Protocol::Overlapped && !self.merges.is_empty() {
            self.start_merging(environment);
        }
    }

    /// Static protocol: all links get the directions of the tree.
    fn use_directions_of_tree(&mut self, environment: &mut impl ProtocolEnvironment) {
        // Packets that arrived from switches which had not joined yet are old too.
        for t in (0..self.graph.size()).filter(|t| self.tree.has_joined[*t as usize]) {
            environment.discard_packets_at(t);
        }
        let rank = |t: u32| (self.tree.level[t as usize], t);
        for ((a, b), second_is_up) in self.graph.links.iter().zip(&mut self.graph.second_is_up) {
            *second_is_up = rank(*b) < rank(*a);
        }
        self.target = TopologySnapshot::of(&self.graph);
    }

    /// A switch has received the topology. It forwards it to its children, and computes its adaptive tables.
    pub(super) fn distribute_topology(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        for child in &self.tree.children[s as usize] {
            self.send(environment, s, *child, self.port_count(), ProtocolMessage::Topology);
        }
        self.start_timer(environment, self.table_cycles(), s, ProtocolMessage::MinimalTablesReady);
    }

    /// Planned protocol: a switch has received the change. It forwards it, and computes its tables.
    pub(super) fn flood_change(&mut self, environment: &mut impl ProtocolEnvironment, s: u32, from: u32) {
        if std::mem::replace(&mut self.progress.knows_change[s as usize], true) {
            return;
        }
        for (_, n) in self.graph.neighbours(s).filter(|(_, n)| *n != from) {
            self.send(environment, s, n, 0, ProtocolMessage::Change);
        }
        // Adaptive tables come first, because they need no directions.
        self.start_timer(environment, self.table_cycles(), s, ProtocolMessage::MinimalTablesReady);
        self.start_timer(environment, 2 * self.table_cycles(), s, ProtocolMessage::EscapeTablesReady);
    }
}
