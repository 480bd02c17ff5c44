//! Merging regions: finding the borders, choosing one after the other, and reversing the links up to a
//! false root.

use super::environment::ProtocolEnvironment;
use super::message::ProtocolMessage;
use super::reconfiguration::Reconfiguration;
use crate::reconfiguration::control_parameters::Protocol;
use crate::reconfiguration::link_reversal::{LinkReversal, ReversalMessage};

impl Reconfiguration {
    /// Overlapped protocol: the root of the tree makes all roots of the graph announce their regions.
    pub(super) fn start_merging(&self, environment: &mut impl ProtocolEnvironment) {
        for t in (0..self.graph.size()).filter(|t| self.tree.has_joined[*t as usize]) {
            if self.graph.neighbours_above(t).next().is_none() {
                // The request to begin travels along the tree with the first phits of the topology.
                let cycles = u64::from(self.tree.level[t as usize])
                    * (u64::from(self.parameters.message_phits) + self.parameters.process_cycles + 1);
                self.start_timer(environment, cycles, t, ProtocolMessage::Region);
            }
        }
    }

    /// A neighbour above a switch has announced its region, or the switch is a root and begins. When all
    /// neighbours above have, the switch announces its own region to those below.
    pub(super) fn receive_region(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        let index = s as usize;
        self.progress.regions_received[index] += 1;
        let above = self.graph.neighbours_above(s).count() as u32;
        if self.progress.has_announced_region[index] || self.progress.regions_received[index] < above.max(1) {
            return;
        }
        self.progress.has_announced_region[index] = true;
        for (_, n) in self.graph.neighbours(s).filter(|(link, _)| !self.graph.leads_up(*link, s)) {
            self.send(environment, s, n, 1, ProtocolMessage::Region);
        }
        self.report_borders(environment, s);
    }

    /// A child has reported the borders in its subtree.
    pub(super) fn receive_border_report(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        self.progress.reports_received[s as usize] += 1;
        self.report_borders(environment, s);
    }

    /// If a switch knows its region and the borders of all its children, it reports to its parent. The root
    /// of the tree starts the first merge.
    fn report_borders(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        let index = s as usize;
        if !self.progress.has_announced_region[index]
            || self.progress.reports_received[index] < self.tree.children[index].len() as u32
        {
            return;
        }
        match self.tree.parent[index] {
            Some(parent) => self.send(environment, s, parent, 2, ProtocolMessage::BorderReport),
            None => self.start_next_merge(environment, s),
        }
    }

    /// Switch `s` tells the border of the next merge to begin.
    fn start_next_merge(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        if let Some(merge) = self.merges.get(self.progress.current_merge) {
            let border = merge.border;
            self.forward_to_border(environment, s, border);
        }
    }

    /// Forwards the request to begin a merge towards its border, which then begins.
    pub(super) fn forward_to_border(
        &mut self,
        environment: &mut impl ProtocolEnvironment,
        s: u32,
        border: u32,
    ) {
        if s != border {
            let hops = self.graph.hops(border);
            let neighbours = self.graph.neighbours(s).map(|(_, n)| n);
            let next = neighbours.min_by_key(|n| (hops[*n as usize], *n)).expect("the network is connected");
            return self.send(environment, s, next, 1, ProtocolMessage::StartMerge(border));
        }
        if self.progress.reversal.is_none() && self.merges[self.progress.current_merge].border == s {
            if self.protocol == Protocol::Overlapped {
                return self.mark_towards_root(environment, s, s);
            }
            self.begin_reversal(environment);
        }
    }

    /// Overlapped protocol: a mark on its way from the border to the false root has arrived at a switch,
    /// which thereby learns that it is between the two. The false root answers.
    pub(super) fn mark_towards_root(
        &mut self,
        environment: &mut impl ProtocolEnvironment,
        s: u32,
        from: u32,
    ) {
        let merge = &self.merges[self.progress.current_merge];
        if s == merge.root {
            return self.send(environment, s, from, 0, ProtocolMessage::Marked(merge.border));
        }
        self.progress.marked_by[s as usize] = Some(from);
        let reversal = merge.reversals.iter().find(|reversal| reversal.switch == s);
        let link = reversal.and_then(|reversal| reversal.links.first().copied());
        let link = link.expect("the switch is between the border and the root");
        self.send(environment, s, self.other_end(link, s), 0, ProtocolMessage::Mark(merge.border));
    }

    /// The answer of the false root on its way back to the border, which then begins the reversal.
    pub(super) fn return_mark(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        let border = self.merges[self.progress.current_merge].border;
        if s == border {
            return self.begin_reversal(environment);
        }
        let back = self.progress.marked_by[s as usize].expect("the switch was marked");
        self.send(environment, s, back, 0, ProtocolMessage::Marked(border));
    }

    /// The border of the current merge begins to reverse links.
    fn begin_reversal(&mut self, environment: &mut impl ProtocolEnvironment) {
        let merge = &self.merges[self.progress.current_merge];
        let border = merge.border;
        self.progress.reversal = Some(LinkReversal::new(merge));
        self.continue_reversal(environment, border);
    }

    /// Planned protocol: a switch knows the change now. The border of the first merge begins it, other
    /// switches continue what waits for them.
    pub(super) fn continue_planned_merge(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        let is_first_border =
            self.merges.first().is_some_and(|m| m.border == s) && self.progress.current_merge == 0;
        if is_first_border && self.progress.reversal.is_none() {
            self.begin_reversal(environment);
        } else {
            self.continue_reversal(environment, s);
        }
    }

    /// Lets a switch reverse its links, if its prerequisites are met.
    fn continue_reversal(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        // Planned protocol: a switch that has not computed its tables yet begins when it has.
        let has_new_tables = environment.tables().previous_escape[s as usize].is_some();
        if self.protocol == Protocol::Planned && !has_new_tables {
            return;
        }
        let Some(reversal) = &mut self.progress.reversal else { return };
        for message in reversal.begin(s, &self.graph, environment.tables()) {
            if let ReversalMessage::Reverse(link) = message {
                let other = self.other_end(link, s);
                self.send(environment, s, other, 0, ProtocolMessage::Reversal(message));
            }
        }
        self.finish_merge(environment, s);
    }

    /// A message of the other end of a link has arrived.
    pub(super) fn receive_reversal(
        &mut self,
        environment: &mut impl ProtocolEnvironment,
        s: u32,
        from: u32,
        message: ReversalMessage,
    ) {
        let reversal = self.progress.reversal.as_mut().expect("a merge is going on");
        if let Some(answer) = reversal.receive(s, message, &mut self.graph, environment.tables()) {
            self.send(environment, s, from, 0, ProtocolMessage::Reversal(answer));
        }
        self.continue_reversal(environment, s);
    }

    /// After the last reversal of a merge, the false root starts the next merge, or has escape tables
    /// computed.
    fn finish_merge(&mut self, environment: &mut impl ProtocolEnvironment, s: u32) {
        if !self.progress.reversal.as_ref().is_some_and(LinkReversal::is_finished) {
            return;
        }
        self.progress.reversal = None;
        self.progress.current_merge += 1;
        if self.progress.current_merge < self.merges.len() {
            self.start_next_merge(environment, s);
        } else if self.protocol == Protocol::Overlapped {
            self.flood_distances(environment, s, s);
        }
    }

    /// Overlapped protocol: a switch has received distances. It sends its own, and computes its escape
    /// tables. The flood begins where the last link was reversed.
    pub(super) fn flood_distances(&mut self, environment: &mut impl ProtocolEnvironment, s: u32, from: u32) {
        if std::mem::replace(&mut self.progress.has_sent_distances[s as usize], true) {
            return;
        }
        for (_, n) in self.graph.neighbours(s).filter(|(_, n)| *n != from) {
            self.send(environment, s, n, self.graph.size() / 2, ProtocolMessage::Distances);
        }
        self.start_timer(environment, self.table_cycles(), s, ProtocolMessage::EscapeTablesReady);
    }

    fn other_end(&self, link: u32, s: u32) -> u32 {
        let (a, b) = self.graph.links[link as usize];
        if a == s { b } else { a }
    }
}
