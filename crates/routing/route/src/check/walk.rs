//! Follows packets through the tables.

use super::{Fault, Findings, MOST_FAULTS, Traffic, cycle};
use crate::network::{Channel, Network, Plugged, Port, SwitchId};
use crate::table::{Destination, Table};

pub(super) struct Walk<'a> {
    network: &'a Network,
    table: &'a Table,
    /// For each lane, each channel and each channel that leaves where it leads: a destination whose packets
    /// hold the one and wait for the other.
    waits: Vec<Vec<Option<Destination>>>,
    /// Where in that each channel begins.
    start: Vec<usize>,
    findings: Findings,
    /// By switch: hops to every other; made when first asked for, as end nodes of one switch come one after
    /// the other.
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
            broken: 0,
            pairs: 0,
            hops: Vec::new(),
            longer: 0,
            minimal_hops: 0,
            load,
            dependencies: 0,
        };
        let distances = (
            SwitchId(0),
            if network.switches().is_empty() { Vec::new() } else { network.distances(SwitchId(0)) },
        );
        Walk { network, table, waits, start, findings, distances }
    }

    /// Follows the packets of all senders to one destination.
    pub fn destination(&mut self, to: Destination, traffic: Traffic) {
        if traffic == Traffic::EndNodes && matches!(to, Destination::Switch(_)) {
            return;
        }
        let end = match to {
            Destination::EndNode(e) => self.network.end_node(e).switch,
            Destination::Switch(s) => s,
        };
        if self.distances.0 != end {
            self.distances = (end, self.network.distances(end));
        }
        let before = self.findings.broken;
        for from in self.network.switch_ids() {
            let mut senders = self.network.attached(from).len() as u64;
            match to {
                Destination::EndNode(e) if self.network.end_node(e).switch == from => senders -= 1,
                Destination::Switch(_) => senders = 0,
                Destination::EndNode(_) => {}
            }
            if senders > 0 || traffic == Traffic::Everything {
                // One fault spoils the paths of many senders; the first of them says it.
                self.path(from, end, to, senders, self.findings.broken > before);
            }
        }
    }

    fn path(&mut self, from: SwitchId, end: SwitchId, to: Destination, senders: u64, known: bool) {
        let mut path: Vec<Channel> = Vec::new();
        let mut at = from;
        let fault = loop {
            let Some(port) = self.table.port(at, to) else { break Some(Fault::NoEntry { at, to }) };
            if at == end {
                let right = match to {
                    Destination::EndNode(e) => self.network.plugged(at, port) == Plugged::EndNode(e),
                    Destination::Switch(_) => port == Port(0),
                };
                break (!right).then_some(Fault::WrongPort { at, to, port });
            }
            let Plugged::Channel(c) = self.network.plugged(at, port) else {
                break Some(Fault::WrongPort { at, to, port });
            };
            if let Some(i) = path.iter().position(|p| *p == c) {
                break Some(Fault::Loop { to, channels: path.split_off(i) });
            }
            path.push(c);
            at = self.network.to(c);
        };
        if let Some(fault) = fault {
            self.findings.broken += 1;
            if !known && self.findings.faults.len() < MOST_FAULTS {
                self.findings.faults.push(fault);
            }
            return;
        }
        for pair in path.windows(2) {
            let onward = self.network.leaving(self.network.from(pair[1]));
            let place = onward.iter().position(|c| *c == pair[1]).expect("it leaves there");
            let lane = &mut self.waits[usize::from(self.table.lane(to))];
            lane[self.start[pair[0].index()] + place].get_or_insert(to);
        }
        let (hops, found) = (path.len(), &mut self.findings);
        let minimal = self.distances.1[from.index()].map_or(hops as u64, u64::from);
        found.pairs += senders;
        if senders > 0 {
            found.hops.resize(found.hops.len().max(hops + 1), 0);
            found.hops[hops] += senders;
        }
        found.minimal_hops += minimal * senders;
        found.longer += if hops as u64 > minimal { senders } else { 0 };
        path.iter().for_each(|c| found.load[c.index()] += senders);
    }

    pub fn findings(mut self) -> Findings {
        for (lane, waits) in self.waits.iter().enumerate() {
            let onward = |c: Channel| {
                let leaving = self.network.leaving(self.network.to(c));
                let waits = &waits[self.start[c.index()]..];
                leaving
                    .iter()
                    .zip(waits)
                    .filter_map(|(next, why)| why.map(|why| (*next, why)))
                    .collect::<Vec<_>>()
            };
            self.findings.dependencies += waits.iter().flatten().count() as u64;
            if let Some(waits) = cycle::find(self.network.channels(), onward) {
                self.findings.faults.push(Fault::Cycle { lane: lane as u8, waits });
            }
        }
        self.findings
    }
}
