//! Finds the steps: repairs broken paths, then shortens paths, and puts as many changes into one step as
//! may arrive in any order.

use super::update::{EntryChange, PlanError, UpdatePlan, UpdateStep};
use crate::dependency_graph::DependencyGraph;
use crate::network::{Channel, Network, Port, SwitchId};
use crate::order::ChannelOrder;
use crate::table::{Destination, Table};
use crate::visited_set::VisitedSet;
use evenkeel_random::Random;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

/// No channel, or no path.
const NONE: u32 = u32::MAX;

/// A search for steps, and the tables that it has reached.
#[derive(Clone)]
pub struct StepSearch<'a> {
    network: &'a Network,
    table: Table,
    destinations: Vec<Destination>,
    /// By destination and switch: the channel of the present entry.
    next: Vec<Vec<u32>>,
    /// By destination: the channels of the entries in the step under construction, by switch.
    staged: Vec<BTreeMap<u32, u32>>,
    dependencies: DependencyGraph,
    /// By channel: number of entries with this channel.
    load: Vec<u32>,
    /// The destinations, in the order in which they are processed.
    processing_order: Vec<usize>,
    /// Switches that a search along entries has visited.
    visited: VisitedSet,
}

impl<'a> StepSearch<'a> {
    /// A search that starts from the current tables.
    ///
    /// # Errors
    /// The current tables have a loop or can deadlock.
    pub fn new(network: &'a Network, current: &Table) -> Result<StepSearch<'a>, PlanError> {
        let destinations: Vec<Destination> = current.destinations().collect();
        let channel = |at, to| current.next(network, at, to).map_or(NONE, |c| c.0);
        let next: Vec<Vec<u32>> = destinations
            .iter()
            .map(|to| {
                network
                    .switch_ids()
                    .map(|s| if s == to.switch(network) { NONE } else { channel(s, *to) })
                    .collect()
            })
            .collect();
        let mut search = StepSearch {
            network,
            table: current.clone(),
            staged: vec![BTreeMap::new(); destinations.len()],
            processing_order: (0..destinations.len()).collect(),
            destinations,
            next,
            dependencies: DependencyGraph::new(network.channels() * usize::from(current.lanes())),
            load: vec![0; network.channels()],
            visited: VisitedSet::new(network.switches().len()),
        };
        for d in 0..search.destinations.len() {
            search.add_entries_of(d)?;
        }
        Ok(search)
    }

    /// Adds the load and the dependencies of the current entries for a destination.
    fn add_entries_of(&mut self, d: usize) -> Result<(), PlanError> {
        let network = self.network;
        self.hops(d).ok_or(PlanError::Loop)?;
        for s in 0..network.switches().len() {
            let c = self.next[d][s];
            if c == NONE {
                continue;
            }
            self.load[c as usize] += 1;
            let following = self.next[d][network.to(Channel(c)).index()];
            if following == NONE {
                continue;
            }
            let (from, to) = (self.vertex(d, c), self.vertex(d, following));
            if !self.dependencies.try_add(&[(from, to)]) {
                let switch = |s: SwitchId| &network.switch(s).name;
                let name = |c: Channel| format!("{} -> {}", switch(network.from(c)), switch(network.to(c)));
                let (held, awaited) = (name(Channel(c)), name(Channel(following)));
                let cycle = format!("packets that hold {held} and wait for {awaited} close a cycle");
                return Err(PlanError::Cyclic { cycle });
            }
        }
        Ok(())
    }

    /// An order in which all current paths ascend. `None` if there are several virtual lanes.
    pub fn order(&self) -> Option<ChannelOrder> {
        let lowest: Vec<Channel> = self.dependencies.topological_order().into_iter().map(Channel).collect();
        (self.table.lanes() == 1).then(|| ChannelOrder::from_lowest(&lowest))
    }

    /// The same search with the destinations in a random order. The first ones take turns that others then
    /// cannot have.
    pub fn shuffled(mut self, random: &mut Random) -> StepSearch<'a> {
        random.shuffle(&mut self.processing_order);
        self
    }

    /// Searches for steps until all paths exist or none can be added, and then shortens paths in up to
    /// `improve` steps. Entries move towards `target` where repairs alone do not suffice.
    pub fn run(mut self, improve: u32, target: &Table) -> Result<UpdatePlan, PlanError> {
        let mut steps = Vec::new();
        let mut improvements = 0;
        let mut has_broken_paths = true;
        let processing_order = std::mem::take(&mut self.processing_order);
        loop {
            if has_broken_paths {
                processing_order.iter().for_each(|d| self.repair(*d));
                if self.is_step_empty() {
                    has_broken_paths = !self.missing_paths().is_empty();
                    if has_broken_paths {
                        processing_order.iter().for_each(|d| self.approach(*d, target));
                    }
                }
            }
            if self.is_step_empty() && improvements < improve {
                improvements += 1;
                processing_order.iter().for_each(|d| self.shorten(*d));
            }
            match self.commit() {
                step if step.changes.is_empty() => break,
                step => steps.push(step),
            }
        }
        let missing_paths = self.missing_paths();
        Ok(UpdatePlan { steps, end: self.table, missing_paths })
    }

    fn is_step_empty(&self) -> bool {
        self.staged.iter().all(BTreeMap::is_empty)
    }

    /// Changes entries to those of the target, as far as this step allows. Each entry changes to its target
    /// at most once, so this ends.
    fn approach(&mut self, d: usize, target: &Table) {
        let network = self.network;
        let to = self.destinations[d];
        let hops = self.hops(d).expect("no step makes a loop");
        for s in network.switch_ids().filter(|s| *s != to.switch(network)) {
            let new = target.next(network, s, to).filter(|c| self.next[d][s.index()] != c.0);
            // A switch without a path would not help.
            if let Some(c) = new.filter(|c| hops[network.to(*c).index()] != NONE) {
                self.stage(d, s.0, c.0);
            }
        }
    }

    /// The vertex of the dependency graph for a channel on the virtual lane of a destination.
    fn vertex(&self, d: usize, c: u32) -> u32 {
        u32::from(self.table.lane(self.destinations[d])) * self.network.channels() as u32 + c
    }

    /// By switch: hops to a destination by the current entries, or `NONE` without a path. Returns `None` if
    /// they loop.
    fn hops(&self, d: usize) -> Option<Vec<u32>> {
        let n = self.network.switches().len();
        let mut hops = vec![NONE; n];
        let mut known = vec![false; n];
        let end = self.destinations[d].switch(self.network).index();
        (hops[end], known[end]) = (0, true);
        for s in 0..n {
            let mut path = Vec::new();
            let mut at = s;
            while !known[at] {
                if path.len() > n {
                    return None;
                }
                path.push(at);
                match self.next[d][at] {
                    NONE => break,
                    c => at = self.network.to(Channel(c)).index(),
                }
            }
            // Switches without an entry have `NONE` already.
            let mut distance = hops[at];
            for at in path.into_iter().rev() {
                if self.next[d][at] != NONE && distance != NONE {
                    distance += 1;
                    hops[at] = distance;
                }
                known[at] = true;
            }
        }
        Some(hops)
    }

    /// Gives paths to switches that have none, the shortest first, as far as this step allows.
    fn repair(&mut self, d: usize) {
        let mut hops = self.hops(d).expect("no step makes a loop");
        let network = self.network;
        if hops.iter().all(|h| *h != NONE) {
            return;
        }
        let mut open = BinaryHeap::new();
        for s in network.switch_ids().filter(|s| hops[s.index()] != NONE) {
            self.add_candidates(&mut open, &hops, s);
        }
        while let Some(Reverse((distance, _, c))) = open.pop() {
            let s = network.from(Channel(c));
            if hops[s.index()] == NONE && self.stage(d, s.0, c) {
                hops[s.index()] = distance;
                self.add_candidates(&mut open, &hops, s);
            }
        }
    }

    /// Adds the channels by which switches without a path could reach a switch that has one.
    fn add_candidates(&self, open: &mut BinaryHeap<Reverse<(u32, u32, u32)>>, hops: &[u32], s: SwitchId) {
        let into = self
            .network
            .leaving(s)
            .iter()
            .map(|c| c.reverse())
            .filter(|c| hops[self.network.from(*c).index()] == NONE);
        open.extend(into.map(|c| Reverse((hops[s.index()] + 1, self.load[c.index()], c.0))));
    }

    /// Takes shorter paths where there are any. Each hop leads nearer by the current number of hops,
    /// whatever arrives first, so there can be no loop.
    fn shorten(&mut self, d: usize) {
        let hops = self.hops(d).expect("no step makes a loop");
        let network = self.network;
        for s in network.switch_ids() {
            let here = hops[s.index()];
            let mut better: Vec<(u32, u32, u32)> = Vec::new();
            for c in network.leaving(s) {
                let there = hops[network.to(*c).index()];
                if here != NONE && there != NONE && there + 1 < here {
                    better.push((there, self.load[c.index()], c.0));
                }
            }
            better.sort_unstable();
            let _found = better.into_iter().find(|(_, _, c)| self.stage(d, s.0, *c));
        }
    }

    /// The channels by which a switch may forward packets to a destination during the step: the present and
    /// the new one.
    fn options(&self, d: usize, s: SwitchId) -> impl Iterator<Item = u32> + use<> {
        let now = self.next[d][s.index()];
        let then = self.staged[d].get(&s.0).copied().unwrap_or(NONE);
        [now, then].into_iter().filter(|c| *c != NONE)
    }

    /// Adds a change to the step, if it may arrive before or after any other change of the step. Returns
    /// whether it may.
    fn stage(&mut self, d: usize, s: u32, c: u32) -> bool {
        let network = self.network;
        let to = network.to(Channel(c));
        if self.may_lead_to(d, to, SwitchId(s)) {
            return false;
        }
        let mut pairs: Vec<(u32, u32)> = self.options(d, to).map(|next| (c, next)).collect();
        for into in network.leaving(SwitchId(s)).iter().map(|c| c.reverse()) {
            if self.options(d, network.from(into)).any(|o| o == into.0) {
                pairs.push((into.0, c));
            }
        }
        pairs.iter_mut().for_each(|(a, b)| (*a, *b) = (self.vertex(d, *a), self.vertex(d, *b)));
        if !self.dependencies.try_add(&pairs) {
            return false;
        }
        self.staged[d].insert(s, c);
        self.load[c as usize] += 1;
        true
    }

    /// Whether packets to a destination can get from one switch to another in some order of arrival.
    fn may_lead_to(&mut self, d: usize, from: SwitchId, to: SwitchId) -> bool {
        self.visited.clear();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            for c in self.options(d, at) {
                let next = self.network.to(Channel(c));
                if self.visited.insert(next.0) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// Completes the step: all changes have arrived, and the entries that they replace are gone.
    fn commit(&mut self) -> UpdateStep {
        let mut changes = Vec::new();
        for d in 0..self.destinations.len() {
            let to = self.destinations[d];
            let network = self.network;
            // A new destination needs the entry for its last hop.
            let (at, port) = match to {
                Destination::EndNode(e) => (network.end_node(e).switch, network.end_node(e).switch_port),
                Destination::Switch(s) => (s, Port(0)),
            };
            if self.table.port(at, to) != Some(port) {
                changes.push(EntryChange { at, to, port });
            }
            let mut removed: HashSet<(u32, u32)> = HashSet::new();
            for s in self.staged[d].keys().map(|s| SwitchId(*s)) {
                let old = self.next[d][s.index()];
                if old == NONE {
                    continue;
                }
                self.load[old as usize] -= 1;
                removed.extend(self.options(d, network.to(Channel(old))).map(|next| (old, next)));
                for into in network.leaving(s).iter().map(|c| c.reverse()) {
                    if self.options(d, network.from(into)).any(|o| o == into.0) {
                        removed.insert((into.0, old));
                    }
                }
            }
            for (a, b) in removed {
                let (a, b) = (self.vertex(d, a), self.vertex(d, b));
                self.dependencies.remove(a, b);
            }
            for (s, c) in std::mem::take(&mut self.staged[d]) {
                self.next[d][s as usize] = c;
                changes.push(EntryChange { at: SwitchId(s), to, port: network.out_port(Channel(c)) });
            }
        }
        let step = UpdateStep { changes };
        self.table = step.applied(&self.table);
        step
    }

    /// Switches without a path to a destination that the network connects them with.
    fn missing_paths(&self) -> Vec<(SwitchId, Destination)> {
        let network = self.network;
        let mut missing = Vec::new();
        for d in 0..self.destinations.len() {
            let (hops, to) = (self.hops(d).expect("no step makes a loop"), self.destinations[d]);
            if hops.contains(&NONE) {
                let distances = network.distances(to.switch(network));
                missing.extend(
                    network
                        .switch_ids()
                        .filter(|s| hops[s.index()] == NONE && distances[s.index()].is_some())
                        .map(|s| (s, to)),
                );
            }
        }
        missing
    }
}
