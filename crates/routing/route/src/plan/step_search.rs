//! Finds the steps: mends what is broken, then shortens what can be shortened, and puts into one step
//! as much as may arrive in any order.

use super::{Change, NoPlan, Plan, Step};
use crate::dependencies::{Dependencies, Seen};
use crate::network::{Channel, Network, Port, SwitchId};
use crate::order::ChannelOrder;
use crate::table::{Destination, Table, home};
use evenkeel_random::Random;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

/// Stands for no channel, and for no path.
const NONE: u32 = u32::MAX;

#[derive(Clone)]
pub struct Search<'a> {
    network: &'a Network,
    table: Table,
    destinations: Vec<Destination>,
    /// By destination and switch: the channel by which it sends on now.
    next: Vec<Vec<u32>>,
    /// By destination: entries of the step that is being made.
    staged: Vec<BTreeMap<u32, u32>>,
    dependencies: Dependencies,
    /// By channel: how many entries name it.
    load: Vec<u32>,
    /// The destinations in the order in which they are seen to.
    turns: Vec<usize>,
    /// Switches that a look has come by.
    seen: Seen,
}

impl<'a> Search<'a> {
    pub fn new(network: &'a Network, today: &Table) -> Result<Search<'a>, NoPlan> {
        let destinations: Vec<Destination> = today.destinations().collect();
        let channel = |at, to| today.next(network, at, to).map_or(NONE, |c| c.0);
        let next: Vec<Vec<u32>> = destinations
            .iter()
            .map(|to| {
                network
                    .switch_ids()
                    .map(|s| if s == home(network, *to) { NONE } else { channel(s, *to) })
                    .collect()
            })
            .collect();
        let mut search = Search {
            network,
            table: today.clone(),
            staged: vec![BTreeMap::new(); destinations.len()],
            turns: (0..destinations.len()).collect(),
            destinations,
            next,
            dependencies: Dependencies::new(network.channels() * usize::from(today.lanes())),
            load: vec![0; network.channels()],
            seen: Seen::new(network.switches().len()),
        };
        for d in 0..search.destinations.len() {
            search.hops(d).ok_or(NoPlan::Loop)?;
            for s in 0..network.switches().len() as u32 {
                let c = search.next[d][s as usize];
                if c == NONE {
                    continue;
                }
                search.load[c as usize] += 1;
                let onward = search.next[d][network.to(Channel(c)).index()];
                let (from, to) = (search.vertex(d, c), search.vertex(d, onward));
                if onward != NONE && !search.dependencies.add_all(&[(from, to)]) {
                    let name = |c: u32| {
                        format!(
                            "{} -> {}",
                            network.switch(network.from(Channel(c))).name,
                            network.switch(network.to(Channel(c))).name
                        )
                    };
                    return Err(NoPlan::Cyclic {
                        cycle: format!("waiting in {} for {} closes a cycle", name(c), name(onward)),
                    });
                }
            }
        }
        Ok(search)
    }

    /// An order in which all that is in force ascends, if there is one lane.
    pub fn order(&self) -> Option<ChannelOrder> {
        let lowest: Vec<Channel> = self.dependencies.lowest_first().into_iter().map(Channel).collect();
        (self.table.lanes() == 1).then(|| ChannelOrder::from_lowest(&lowest))
    }

    /// Sees to the destinations in a random order. Who comes first takes turns that others then cannot have.
    pub fn shuffled(mut self, random: &mut Random) -> Search<'a> {
        random.shuffle(&mut self.turns);
        self
    }

    pub fn run(mut self, improve: u32, aim: &Table) -> Result<Plan, NoPlan> {
        let mut steps = Vec::new();
        let mut improvements = 0;
        let mut broken = true;
        let turns = std::mem::take(&mut self.turns);
        loop {
            if broken {
                turns.iter().for_each(|d| self.mend(*d));
                if self.nothing_staged() {
                    broken = !self.lost().is_empty();
                    if broken {
                        turns.iter().for_each(|d| self.approach(*d, aim));
                    }
                }
            }
            if self.nothing_staged() && improvements < improve {
                improvements += 1;
                turns.iter().for_each(|d| self.shorten(*d));
            }
            match self.commit() {
                step if step.changes.is_empty() => break,
                step => steps.push(step),
            }
        }
        let lost = self.lost();
        Ok(Plan { steps, end: self.table, lost })
    }

    fn nothing_staged(&self) -> bool {
        self.staged.iter().all(BTreeMap::is_empty)
    }

    /// Moves entries to what they are in other tables, as far as that may happen in this step. Each is
    /// moved there once, so this comes to an end.
    fn approach(&mut self, d: usize, aim: &Table) {
        let network = self.network;
        let to = self.destinations[d];
        let hops = self.hops(d).expect("no step makes circles");
        for s in network.switch_ids().filter(|s| *s != home(network, to)) {
            let new = aim.next(network, s, to).filter(|c| self.next[d][s.index()] != c.0);
            // Not to a switch that has no path itself.
            if let Some(c) = new.filter(|c| hops[network.to(*c).index()] != NONE) {
                self.stage(d, s.0, c.0);
            }
        }
    }

    /// Vertices are the channels of each lane.
    fn vertex(&self, d: usize, c: u32) -> u32 {
        u32::from(self.table.lane(self.destinations[d])) * self.network.channels() as u32 + c
    }

    /// Hops to a destination by what is in force; `NONE` where that does not lead there. Nothing if it
    /// leads in a circle.
    fn hops(&self, d: usize) -> Option<Vec<u32>> {
        let n = self.network.switches().len();
        let mut hops = vec![NONE; n];
        let mut known = vec![false; n];
        let end = home(self.network, self.destinations[d]).index();
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
            // Where there is no entry, `hops` says so already.
            let mut far = hops[at];
            for at in path.into_iter().rev() {
                if self.next[d][at] != NONE && far != NONE {
                    far += 1;
                    hops[at] = far;
                }
                known[at] = true;
            }
        }
        Some(hops)
    }

    /// Gives paths to switches that have none, the shortest first, as far as that may happen in this step.
    fn mend(&mut self, d: usize) {
        let mut hops = self.hops(d).expect("no step makes circles");
        let network = self.network;
        if hops.iter().all(|h| *h != NONE) {
            return;
        }
        let mut open = BinaryHeap::new();
        for s in network.switch_ids().filter(|s| hops[s.index()] != NONE) {
            self.offer(&mut open, &hops, s);
        }
        while let Some(Reverse((far, _, c))) = open.pop() {
            let s = network.from(Channel(c));
            if hops[s.index()] == NONE && self.stage(d, s.0, c) {
                hops[s.index()] = far;
                self.offer(&mut open, &hops, s);
            }
        }
    }

    /// The channels by which switches without a path could come to one that has one.
    fn offer(&self, open: &mut BinaryHeap<Reverse<(u32, u32, u32)>>, hops: &[u32], s: SwitchId) {
        let into = self
            .network
            .leaving(s)
            .iter()
            .map(|c| c.reverse())
            .filter(|c| hops[self.network.from(*c).index()] == NONE);
        open.extend(into.map(|c| Reverse((hops[s.index()] + 1, self.load[c.index()], c.0))));
    }

    /// Takes shorter paths where there are any. Whatever arrives first, each hop leads nearer by the hops
    /// of now, so that no circle can close.
    fn shorten(&mut self, d: usize) {
        let hops = self.hops(d).expect("no step makes circles");
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

    /// What a switch may do for a destination while the step arrives: what it does now, and what it will do.
    fn options(&self, d: usize, s: SwitchId) -> impl Iterator<Item = u32> + use<> {
        let now = self.next[d][s.index()];
        let then = self.staged[d].get(&s.0).copied().unwrap_or(NONE);
        [now, then].into_iter().filter(|c| *c != NONE)
    }

    /// Puts an entry into the step if it may arrive before or after any other of the step; false: it may not.
    fn stage(&mut self, d: usize, s: u32, c: u32) -> bool {
        let network = self.network;
        let to = network.to(Channel(c));
        if self.may_lead_to(d, to, SwitchId(s)) {
            return false;
        }
        let mut pairs: Vec<(u32, u32)> = self.options(d, to).map(|onward| (c, onward)).collect();
        for into in network.leaving(SwitchId(s)).iter().map(|c| c.reverse()) {
            if self.options(d, network.from(into)).any(|o| o == into.0) {
                pairs.push((into.0, c));
            }
        }
        pairs.iter_mut().for_each(|(a, b)| (*a, *b) = (self.vertex(d, *a), self.vertex(d, *b)));
        if !self.dependencies.add_all(&pairs) {
            return false;
        }
        self.staged[d].insert(s, c);
        self.load[c as usize] += 1;
        true
    }

    /// Whether packets to a destination can come from one switch to another in some order of arrival.
    fn may_lead_to(&mut self, d: usize, from: SwitchId, to: SwitchId) -> bool {
        self.seen.clear();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            for c in self.options(d, at) {
                let next = self.network.to(Channel(c));
                if self.seen.insert(next.0) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// The step has arrived everywhere: what it replaced is forgotten.
    fn commit(&mut self) -> Step {
        let mut changes = Vec::new();
        for d in 0..self.destinations.len() {
            let to = self.destinations[d];
            let network = self.network;
            // The last hop of a destination that is new.
            let (at, port) = match to {
                Destination::EndNode(e) => (network.end_node(e).switch, network.end_node(e).switch_port),
                Destination::Switch(s) => (s, Port(0)),
            };
            if self.table.port(at, to) != Some(port) {
                changes.push(Change { at, to, port });
            }
            let mut gone: HashSet<(u32, u32)> = HashSet::new();
            for s in self.staged[d].keys().map(|s| SwitchId(*s)) {
                let old = self.next[d][s.index()];
                if old == NONE {
                    continue;
                }
                self.load[old as usize] -= 1;
                gone.extend(self.options(d, network.to(Channel(old))).map(|onward| (old, onward)));
                for into in network.leaving(s).iter().map(|c| c.reverse()) {
                    if self.options(d, network.from(into)).any(|o| o == into.0) {
                        gone.insert((into.0, old));
                    }
                }
            }
            for (a, b) in gone {
                let (a, b) = (self.vertex(d, a), self.vertex(d, b));
                self.dependencies.remove(a, b);
            }
            for (s, c) in std::mem::take(&mut self.staged[d]) {
                self.next[d][s as usize] = c;
                changes.push(Change { at: SwitchId(s), to, port: network.out_port(Channel(c)) });
            }
        }
        let step = Step { changes };
        self.table = step.applied(&self.table);
        step
    }

    fn lost(&self) -> Vec<(SwitchId, Destination)> {
        let network = self.network;
        let mut lost = Vec::new();
        for d in 0..self.destinations.len() {
            let (hops, to) = (self.hops(d).expect("no step makes circles"), self.destinations[d]);
            if hops.contains(&NONE) {
                let near = network.distances(home(network, to));
                lost.extend(
                    network
                        .switch_ids()
                        .filter(|s| hops[s.index()] == NONE && near[s.index()].is_some())
                        .map(|s| (s, to)),
                );
            }
        }
        lost
    }
}
