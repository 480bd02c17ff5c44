//! The protocols at work: events at switches, in the time of the simulator.

use super::courier::{Courier, Event};
use super::graph::{Directed, Merge};
use super::judge::{Failed, judge};
use super::spread::Spread;
use super::turning::{Message, Turning};
use super::views::{Knowledge, Views};
use super::{Change, Method, Settings};
use crate::simulator::{Simulator, Workload};
use crate::wiring::ChannelId;
use evenkeel_route::{EndNodeId, SwitchId};
use serde::Serialize;
use std::rc::Rc;

/// What a change has cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// From the change until all tables were up to date.
    pub cycles: u64,
    /// Packets taken out because of the protocol: not those of the next two kinds.
    pub discarded: u64,
    /// Packets that the change itself took with it: those in the switch or on its channels.
    pub hit: u64,
    /// Packets for hosts at the switch that has gone, or has not been heard of yet.
    pub addressed: u64,
    /// Cycles in which a host might not inject, over all hosts.
    pub stopped: u64,
    pub messages: u64,
    pub phits: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Join,
    HadJoined,
    Collected,
    Topology,
    /// Tables have been made.
    Minimal,
    Escape,
    /// The change alone.
    Delta,
    /// Regions have been told from above, for merging.
    Region,
    Report,
    /// Goes along the path to the switch that is to begin a merge.
    Merge(u32),
    Mark(u32),
    Marked(u32),
    Turn(Message),
    Distances,
}

struct Run<'a> {
    simulator: &'a mut Simulator<Views>,
    courier: Courier<What>,
    method: Method,
    settings: Settings,
    /// Directions as they are.
    graph: Directed,
    /// What will be known in the end.
    target: Rc<Knowledge>,
    spread: Spread,
    merges: Vec<Merge>,
    /// The merge that is going on, and who has heard of the change.
    current: usize,
    turning: Option<Turning>,
    knows: Vec<bool>,
    regions: Vec<(u32, bool)>,
    reports: Vec<u32>,
    distances: Vec<bool>,
    marks: Vec<Option<u32>>,
    stopped_since: Vec<Option<u64>>,
    outcome: Outcome,
}

/// Carries out a change now, and runs until all tables are up to date. `graph` is what is there before, and afterwards what is there then.
///
/// # Errors
/// A deadlock, or an invariant that did not hold.
pub fn reconfigure(simulator: &mut Simulator<Views>, workload: &mut impl Workload, graph: &mut Directed, change: Change, method: Method, settings: Settings) -> Result<Outcome, Failed> {
    let begun = simulator.now();
    let discarded_before = simulator.discarded().packets;
    let n = graph.alive.len();
    let (switch, comes) = match change {
        Change::SwitchGoes(s) => (s, false),
        Change::SwitchComes(s) => (s, true),
    };
    let mut neighbours: Vec<u32> = Vec::new();
    if comes {
        graph.alive[switch as usize] = true;
        neighbours = graph.around(switch).map(|(_, n)| n).collect();
        // It joins as a leaf: everybody else is up.
        for (link, _) in graph.around(switch).collect::<Vec<_>>() {
            graph.second_is_up[link as usize] = graph.links[link as usize].0 == switch;
        }
    } else {
        neighbours.extend(graph.around(switch).map(|(_, n)| n));
        graph.alive[switch as usize] = false;
    }
    // What carrier tells both ends at once.
    let hit = switch_power(simulator, graph, switch, comes);
    let discarded_before = discarded_before + hit;
    let merges = if method == Method::Static { Vec::new() } else { graph.merges() };
    let mut target = graph.clone();
    for link in merges.iter().flat_map(|m| &m.turns).flat_map(|t| &t.links) {
        target.second_is_up[*link as usize] ^= true;
    }
    let mut run = Run {
        courier: Courier::new(settings, simulator.wiring().channels() as usize, n),
        simulator,
        method,
        settings,
        target: Knowledge::of(&target),
        graph: graph.clone(),
        spread: Spread::new(n),
        merges,
        current: 0,
        turning: None,
        knows: vec![false; n],
        regions: vec![(0, false); n],
        reports: vec![0; n],
        distances: vec![false; n],
        marks: vec![None; n],
        stopped_since: vec![None; n],
        outcome: Outcome { cycles: 0, discarded: 0, hit, addressed: 0, stopped: 0, messages: 0, phits: 0 },
    };
    neighbours.sort_unstable();
    match method {
        // All notice; the first one's flood wins.
        Method::Static | Method::Overlapped => {
            run.courier.after(begun, settings.process_cycles, neighbours[0], What::Join);
        }
        Method::Planned => {
            for s in &neighbours {
                run.courier.after(begun, settings.process_cycles, *s, What::Delta);
            }
            if comes {
                run.tell(neighbours[0], switch, run.ports(), What::Delta);
            }
        }
    }
    run.simulator.routing.changing = method != Method::Static;
    let mut last = begun;
    while let Some((time, event)) = run.courier.next() {
        run.simulator.run(time, workload)?;
        run.handle(event);
        last = run.simulator.now();
        run.outcome.addressed += run.stranded(switch);
        // As the paper has it: what has no route at the moment is discarded.
        if method == Method::Overlapped {
            let wiring = run.simulator.wiring().clone();
            // Those that begin at a switch that has just come wait for its tables.
            run.simulator.discard_stranded_if(|p| !comes || wiring.home(p.source) != SwitchId(switch));
        }
        run.simulator.wake_all();
        if !run.simulator.routing.escape_is_acyclic(&run.graph.alive) {
            return Err(Failed::Circle(last));
        }
    }
    run.simulator.routing.changing = false;
    run.outcome.addressed += run.stranded(switch);
    run.simulator.discard_stranded();
    *graph = run.graph.clone();
    judge(&run.graph, &run.simulator.routing, &run.target)?;
    let courier = (run.courier.messages, run.courier.phits);
    let mut outcome = run.outcome;
    outcome.cycles = last - begun;
    outcome.discarded = run.simulator.discarded().packets - discarded_before - outcome.addressed;
    (outcome.messages, outcome.phits) = courier;
    Ok(outcome)
}

/// Takes a switch's channels out of service or into it. Returns the packets lost.
fn switch_power(simulator: &mut Simulator<Views>, graph: &Directed, switch: u32, on: bool) -> u64 {
    let mut hit = 0;
    let own: Vec<ChannelId> = simulator.wiring().leaving(SwitchId(switch)).to_vec();
    for out in own {
        for channel in [out, ChannelId(out.0 ^ 1)] {
            if on { simulator.revive(channel) } else { hit += simulator.kill(channel) }
        }
    }
    if !on {
        hit += simulator.clear(SwitchId(switch));
    }
    for link in 0..graph.links.len() as u32 {
        let (a, b) = graph.links[link as usize];
        if a == switch || b == switch {
            simulator.routing.follow(graph, link);
        }
    }
    if on {
        simulator.routing.minimal[switch as usize] = None;
        simulator.routing.escape[switch as usize] = None;
        simulator.routing.before[switch as usize] = None;
    }
    hit
}

impl Run<'_> {
    /// Ports of the whole network: what a message with the topology tells of.
    fn ports(&self) -> u32 {
        (0..self.graph.size()).map(|s| self.graph.around(s).count() as u32).sum()
    }

    fn tell(&mut self, from: u32, to: u32, ports: u32, what: What) {
        let (link, _) = self.graph.around(from).find(|(_, n)| *n == to).expect("neighbours");
        let channel = self.simulator.routing.channel(&self.graph, link, from);
        let phits = self.settings.message_phits + ports * self.settings.port_phits;
        self.courier.send(self.simulator, channel, from, to, phits, what);
    }

    fn tables_take(&self) -> u64 {
        self.settings.table_cycles * self.graph.alive.iter().filter(|a| **a).count() as u64
    }

    /// Takes out packets for the switch that has changed, where nobody knows a way. Returns how many.
    fn stranded(&mut self, switch: u32) -> u64 {
        let wiring = self.simulator.wiring().clone();
        self.simulator.discard_stranded_if(|p| wiring.home(p.destination) == SwitchId(switch))
    }

    fn handle(&mut self, event: Event<What>) {
        let Event { at: s, from, what } = event;
        let now = self.simulator.now();
        match what {
            What::Join if self.spread.joined[s as usize] => self.tell(s, from, 0, What::HadJoined),
            What::Join => {
                if self.method == Method::Static {
                    self.stop(s);
                }
                for n in self.spread.join(&self.graph, s, (from != s).then_some(from)) {
                    self.tell(s, n, 0, What::Join);
                }
                self.collected(s);
            }
            What::HadJoined | What::Collected => {
                self.spread.answered(s, from, what == What::Collected);
                self.collected(s);
            }
            What::Topology => {
                for child in self.spread.children[s as usize].clone() {
                    self.tell(s, child, self.ports(), What::Topology);
                }
                self.courier.after(now, self.tables_take(), s, What::Minimal);
            }
            What::Delta if self.knows[s as usize] => {}
            What::Delta => {
                self.knows[s as usize] = true;
                for (_, n) in self.graph.around(s).collect::<Vec<_>>() {
                    if n != from && !self.knows[n as usize] {
                        self.tell(s, n, 0, What::Delta);
                    }
                }
                // Minimal tables first: they need no directions.
                self.courier.after(now, self.tables_take(), s, What::Minimal);
                self.courier.after(now, 2 * self.tables_take(), s, What::Escape);
            }
            What::Minimal => {
                self.simulator.routing.minimal[s as usize] = Some(self.target.clone());
                if self.method == Method::Static {
                    self.courier.after(now, self.tables_take(), s, What::Escape);
                }
                // A switch that has just come has no escape tables that could be stale.
                if self.method == Method::Overlapped && self.merges.is_empty() {
                    self.courier.after(now, self.tables_take(), s, What::Escape);
                }
            }
            What::Escape => self.escape_tables(s),
            What::Region => self.region(s, true),
            What::Report => {
                self.reports[s as usize] += 1;
                self.report(s);
            }
            What::Merge(to) => self.forward(s, to),
            What::Mark(_) | What::Marked(_) => self.mark(s, from, what),
            What::Turn(message) => self.turn(s, from, message),
            What::Distances => self.distances(s, from),
        }
    }

    /// Static: nothing moves here until there are new tables.
    fn stop(&mut self, s: u32) {
        let routing = &mut self.simulator.routing;
        (routing.minimal[s as usize], routing.escape[s as usize], routing.before[s as usize]) = (None, None, None);
        self.simulator.clear(SwitchId(s));
        self.inject(s, false);
        self.stopped_since[s as usize] = Some(self.simulator.now());
    }

    fn inject(&mut self, s: u32, allowed: bool) {
        for h in (0..self.simulator.wiring().hosts()).map(EndNodeId) {
            if self.simulator.wiring().home(h) == SwitchId(s) {
                self.simulator.allow_injection(h, allowed);
                if let Some(since) = self.stopped_since[s as usize].filter(|_| allowed) {
                    self.outcome.stopped += self.simulator.now() - since;
                }
            }
        }
    }

    fn collected(&mut self, s: u32) {
        if !self.spread.complete(s) {
            return;
        }
        if let Some(parent) = self.spread.parent[s as usize] {
            return self.tell(s, parent, self.spread.ports[s as usize], What::Collected);
        }
        // The root of the tree knows everything now.
        let now = self.simulator.now();
        if self.method == Method::Static {
            // What came over from switches that had not joined yet is old as well.
            for t in (0..self.graph.size()).filter(|t| self.spread.joined[*t as usize]) {
                self.simulator.clear(SwitchId(t));
            }
            for link in 0..self.graph.links.len() as u32 {
                let (a, b) = self.graph.links[link as usize];
                let rank = |t: u32| (self.spread.level[t as usize], t);
                self.graph.second_is_up[link as usize] = rank(b) < rank(a);
                self.simulator.routing.follow(&self.graph, link);
            }
            self.target = Knowledge::of(&self.graph);
        }
        self.courier.after(now, 0, s, What::Topology);
        if self.method == Method::Overlapped && !self.merges.is_empty() {
            for t in (0..self.graph.size()).filter(|t| self.spread.joined[*t as usize]) {
                if self.graph.above(t).next().is_none() {
                    // The word to begin travels along the tree with the topology's first phits.
                    let cycles = u64::from(self.spread.level[t as usize]) * (u64::from(self.settings.message_phits) + self.settings.process_cycles + 1);
                    self.courier.after(now, cycles, t, What::Region);
                }
            }
        }
    }

    /// A switch has been told of the regions above it by one neighbour; when all have, it tells those below.
    fn region(&mut self, s: u32, told: bool) {
        let entry = &mut self.regions[s as usize];
        entry.0 += u32::from(told);
        let above = self.graph.above(s).count() as u32;
        if entry.1 || entry.0 < above.max(1) {
            return;
        }
        entry.1 = true;
        for (link, n) in self.graph.around(s).collect::<Vec<_>>() {
            if !self.graph.leads_up(link, s) {
                self.tell(s, n, 1, What::Region);
            }
        }
        self.report(s);
    }

    /// Borders are reported along the tree; its root decides.
    fn report(&mut self, s: u32) {
        if !self.regions[s as usize].1 || self.reports[s as usize] < self.spread.children[s as usize].len() as u32 {
            return;
        }
        match self.spread.parent[s as usize] {
            Some(parent) => self.tell(s, parent, 2, What::Report),
            None => self.next_merge(s),
        }
    }

    /// The switch that knows sends for the border.
    fn next_merge(&mut self, s: u32) {
        if let Some(merge) = self.merges.get(self.current) {
            let border = merge.border;
            self.forward(s, border);
        }
    }

    fn forward(&mut self, s: u32, to: u32) {
        if s != to {
            let hops = self.graph.hops(to);
            let next = self.graph.around(s).map(|(_, n)| n).min_by_key(|n| (hops[*n as usize], *n));
            return self.tell(s, next.expect("connected"), 1, What::Merge(to));
        }
        if self.turning.is_none() && self.merges[self.current].border == s {
            if self.method == Method::Overlapped {
                return self.mark(s, s, What::Mark(s));
            }
            self.begin_turning();
        }
    }

    /// Overlapped: the border makes itself known up to the false root, and hears back from it. The switches in between learn that they are.
    fn mark(&mut self, s: u32, from: u32, what: What) {
        let merge = &self.merges[self.current];
        let (border, root) = (merge.border, merge.root);
        let up_from = |t: u32| merge.turns.iter().find(|turn| turn.switch == t).and_then(|turn| turn.links.first().copied());
        match what {
            What::Mark(_) if s != root => {
                self.marks[s as usize] = Some(from);
                let link = up_from(s).expect("between the border and the root");
                let (a, b) = self.graph.links[link as usize];
                self.tell(s, if a == s { b } else { a }, 0, What::Mark(border));
            }
            What::Mark(_) => self.tell(s, from, 0, What::Marked(border)),
            _ if s == border => self.begin_turning(),
            _ => {
                let back = self.marks[s as usize].expect("it was marked");
                self.tell(s, back, 0, What::Marked(border));
            }
        }
    }

    fn begin_turning(&mut self) {
        self.turning = Some(Turning::new(&self.merges[self.current]));
        let border = self.merges[self.current].border;
        self.take_turn(border);
    }

    fn take_turn(&mut self, s: u32) {
        // Planned: a switch that has not heard of the change yet begins when it has.
        if self.method == Method::Planned && self.simulator.routing.before[s as usize].is_none() {
            return;
        }
        let Some(turning) = &mut self.turning else { return };
        let messages = turning.begin(s, &self.graph, &mut self.simulator.routing);
        for message in messages {
            let Message::Reverse(link) = message else { continue };
            let (a, b) = self.graph.links[link as usize];
            self.tell(s, if a == s { b } else { a }, 0, What::Turn(message));
        }
        self.turned(s);
    }

    fn turn(&mut self, s: u32, from: u32, message: Message) {
        let turning = self.turning.as_mut().expect("a merge is going on");
        if let Some(answer) = turning.receive(s, message, &mut self.graph, &mut self.simulator.routing) {
            self.tell(s, from, 0, What::Turn(answer));
        }
        self.take_turn(s);
    }

    /// When the last link of a merge has been reversed, the false root sees to what comes next.
    fn turned(&mut self, s: u32) {
        if !self.turning.as_ref().is_some_and(Turning::finished) {
            return;
        }
        self.turning = None;
        self.current += 1;
        if self.current < self.merges.len() {
            return self.next_merge(s);
        }
        if self.method == Method::Overlapped {
            self.distances(s, s);
        }
    }

    /// Overlapped: escape tables follow by neighbours' distances, a flood from where the last link was reversed.
    fn distances(&mut self, s: u32, from: u32) {
        if std::mem::replace(&mut self.distances[s as usize], true) {
            return;
        }
        for (_, n) in self.graph.around(s).collect::<Vec<_>>() {
            if n != from {
                self.tell(s, n, self.graph.size() / 2, What::Distances);
            }
        }
        self.courier.after(self.simulator.now(), self.tables_take(), s, What::Escape);
    }

    fn escape_tables(&mut self, s: u32) {
        let target = self.target.clone();
        let old = self.simulator.routing.escape[s as usize].replace(target.clone());
        self.simulator.routing.before[s as usize] = old.or(Some(target));
        match self.method {
            Method::Static => self.inject(s, true),
            Method::Planned => {
                let first = self.merges.first().is_some_and(|m| m.border == s) && self.current == 0;
                if first && self.turning.is_none() {
                    self.begin_turning();
                } else {
                    self.take_turn(s);
                }
            }
            Method::Overlapped => {}
        }
    }
}
