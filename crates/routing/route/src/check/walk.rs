//! Follows packets through the tables, and records faults, loads and dependencies.

use super::cycle;
use super::findings::{Fault, Findings, MOST_FAULTS, Traffic};
use crate::network::{Attachment, Channel, Network, Port, SwitchId};
use crate::table::{Destination, Table};

/// A check under way.
pub(super) struct Walk<'a> {
    network: &'a Network,
    table: &'a Table,
    /// By virtual lane and by pair of consecutive channels: a destination whose packets hold the first and
    /// wait for the second, if there is one.
    waits: Vec<Vec<Option<Destination>>>,
    /// By channel: the index of its first pair.
    start: Vec<usize>,
    findings: Findings,
    /// The hops to one switch. They serve for all its end nodes, which follow each other.
    distances: (SwitchId, Vec<Option<u32>>),
}

impl<'a> Walk<'a> {
    pub fn new(network: &'a Network, table: &'a Table) -> Walk<'a> {
        let mut start = vec![0];
        for c in network.channel_ids() {
            start.push(start[c.index()] + network.leaving(network.to(c)).len());
        }
        let waits = vec![vec![None; start[network.channels()]]; usize::from(table.lanes())];
        let load = vec![0; network.channels()];
        let findings = Findings {
            faults: Vec::new(),
            broken_paths: 0,
            pairs: 0,
            pairs_by_hops: Vec::new(),
            non_minimal_pairs: 0,
            minimal_hops: 0,
            load,
            dependencies: 0,
        };
        let first = if network.switches().is_empty() { Vec::new() } else { network.distances(SwitchId(0)) };
        let distances = (SwitchId(0), first);
        Walk { network, table, waits, start, findings, distances }
    }

    /// Follows the packets of all senders to a destination.
    pub fn follow_to(&mut self, to: Destination, traffic: Traffic) {
        if traffic == Traffic::EndNodes && matches!(to, Destination::Switch(_)) {
            return;
        }
        let end = to.switch(self.network);
        if self.distances.0 != end {
            self.distances = (end, self.network.distances(end));
        }
        let before = self.findings.broken_paths;
        for from in self.network.switch_ids() {
            let mut senders = self.network.end_nodes_at(from).len() as u64;
            match to {
                Destination::EndNode(_) if end == from => senders -= 1,
                Destination::Switch(_) => senders = 0,
                Destination::EndNode(_) => {}
            }
            if senders > 0 || traffic == Traffic::Everything {
                // One fault breaks the paths of many senders. It is listed for the first of them only.
                let is_listed = self.findings.broken_paths > before;
                match self.path(from, end, to) {
                    Ok(path) => self.record(&path, from, to, senders),
                    Err(fault) => self.record_fault(fault, is_listed),
                }
            }
        }
    }

    /// The channels from a switch to a destination at switch `end`.
    fn path(&self, from: SwitchId, end: SwitchId, to: Destination) -> Result<Vec<Channel>, Fault> {
        let mut path: Vec<Channel> = Vec::new();
        let mut at = from;
        loop {
            let port = self.table.port(at, to).ok_or(Fault::NoEntry { at, to })?;
            let attachment = self.network.attachment(at, port);
            if at == end {
                let arrives = match to {
                    Destination::EndNode(e) => attachment == Attachment::EndNode(e),
                    Destination::Switch(_) => port == Port(0),
                };
                return if arrives { Ok(path) } else { Err(Fault::WrongPort { at, to, port }) };
            }
            let Attachment::Channel(c) = attachment else { return Err(Fault::WrongPort { at, to, port }) };
            if let Some(i) = path.iter().position(|p| *p == c) {
                return Err(Fault::Loop { to, channels: path.split_off(i) });
            }
            path.push(c);
            at = self.network.to(c);
        }
    }

    fn record_fault(&mut self, fault: Fault, is_listed: bool) {
        self.findings.broken_paths += 1;
        if !is_listed && self.findings.faults.len() < MOST_FAULTS {
            self.findings.faults.push(fault);
        }
    }

    /// Records the dependencies of a path, and its hops and loads once for each sender.
    fn record(&mut self, path: &[Channel], from: SwitchId, to: Destination, senders: u64) {
        for pair in path.windows(2) {
            let following = self.network.leaving(self.network.from(pair[1]));
            let index = following.iter().position(|c| *c == pair[1]).expect("it leaves this switch");
            let lane = &mut self.waits[usize::from(self.table.lane(to))];
            lane[self.start[pair[0].index()] + index].get_or_insert(to);
        }
        let (hops, found) = (path.len(), &mut self.findings);
        let minimal = self.distances.1[from.index()].map_or(hops as u64, u64::from);
        found.pairs += senders;
        if senders > 0 {
            found.pairs_by_hops.resize(found.pairs_by_hops.len().max(hops + 1), 0);
            found.pairs_by_hops[hops] += senders;
        }
        found.minimal_hops += minimal * senders;
        found.non_minimal_pairs += if hops as u64 > minimal { senders } else { 0 };
        path.iter().for_each(|c| found.load[c.index()] += senders);
    }

    /// Looks for cycles, and returns everything that was found.
    pub fn findings(mut self) -> Findings {
        for (lane, waits) in self.waits.iter().enumerate() {
            let waits_for = |c: Channel| {
                let leaving = self.network.leaving(self.network.to(c));
                let waits = &waits[self.start[c.index()]..];
                leaving
                    .iter()
                    .zip(waits)
                    .filter_map(|(next, to)| to.map(|to| (*next, to)))
                    .collect::<Vec<_>>()
            };
            self.findings.dependencies += waits.iter().flatten().count() as u64;
            if let Some(waits) = cycle::find(self.network.channels(), waits_for) {
                self.findings.faults.push(Fault::Cycle { lane: lane as u8, waits });
            }
        }
        self.findings
    }
}
