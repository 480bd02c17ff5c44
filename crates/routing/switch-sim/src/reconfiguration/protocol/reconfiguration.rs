//! The protocols: what a switch does with each message, whatever brings it.

use crate::reconfiguration::control_network::Event;
use crate::reconfiguration::diffusing_computation::Spread;
use crate::reconfiguration::directed_graph::{Directed, Merge};
use crate::reconfiguration::link_reversal::{Message, Turning};
use crate::reconfiguration::switch_tables::{Knowledge, View, Views};
use crate::reconfiguration::{Change, Method, Settings};
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum What {
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

/// What a message says, and of which reconfiguration.
pub(crate) type Word = (u8, What);

/// What a protocol stands on: tables, hosts and packets, and what carries its messages.
pub(crate) trait Ground {
    fn views(&mut self) -> &mut Views;
    /// A message to a neighbour, over this channel. Messages of a channel arrive in order.
    fn send(&mut self, channel: usize, from: u32, at: u32, phits: u32, word: Word);
    /// A switch does something by itself after a while. Nobody may rely on how long that is.
    fn after(&mut self, cycles: u64, at: u32, word: Word);
    /// Discards all packets in a switch.
    fn clear(&mut self, s: u32);
    /// Whether the hosts of a switch may inject.
    fn inject(&mut self, s: u32, allowed: bool);
}

/// One reconfiguration under way.
#[derive(Clone)]
pub(crate) struct Run {
    /// Which one it is: a later one overrules it at the switches that have joined that.
    pub epoch: u8,
    method: Method,
    settings: Settings,
    /// Directions as they are.
    pub graph: Directed,
    /// What will be known in the end.
    pub target: Rc<Knowledge>,
    pub spread: Spread,
    merges: Vec<Merge>,
    pub state: State,
}

/// What changes while a reconfiguration goes on, beside the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The merge that is going on, and who has heard of the change.
    current: usize,
    turning: Option<Turning>,
    knows: Vec<bool>,
    regions: Vec<(u32, bool)>,
    reports: Vec<u32>,
    distances: Vec<bool>,
    marks: Vec<Option<u32>>,
}

/// Makes a change in a network with directions. Returns the neighbours that notice, in the order of
/// their numbers.
pub(crate) fn make(change: Change, graph: &mut Directed) -> Vec<u32> {
    let (switch, comes) = (change.switch(), change.comes());
    if comes {
        graph.alive[switch as usize] = true;
    }
    let around: Vec<(u32, u32)> = graph.around(switch).collect();
    if comes {
        // It joins as a leaf: everybody else is up.
        for (link, _) in &around {
            graph.second_is_up[*link as usize] = graph.links[*link as usize].0 == switch;
        }
    }
    graph.alive[switch as usize] = comes;
    let mut neighbours: Vec<u32> = around.into_iter().map(|(_, n)| n).collect();
    neighbours.sort_unstable();
    neighbours
}

/// What carrier tells both ends of a switch's links at once, and what a switch that has just come
/// knows: nothing.
pub(crate) fn carrier(change: Change, graph: &Directed, views: &mut Views) {
    let switch = change.switch();
    for link in 0..graph.links.len() as u32 {
        let (a, b) = graph.links[link as usize];
        if a == switch || b == switch {
            views.follow(graph, link);
        }
    }
    if change.comes() {
        (views.minimal[switch as usize], views.escape[switch as usize], views.before[switch as usize]) =
            (None, None, None);
    }
}

impl Run {
    /// A change has been made in `graph`, and its neighbours begin.
    pub fn begin(
        ground: &mut impl Ground,
        epoch: u8,
        graph: &Directed,
        change: Change,
        neighbours: &[u32],
        method: Method,
        settings: Settings,
    ) -> Run {
        let n = graph.alive.len();
        let merges = if method == Method::Static { Vec::new() } else { graph.merges() };
        let mut target = graph.clone();
        for link in merges.iter().flat_map(|m| &m.turns).flat_map(|t| &t.links) {
            target.second_is_up[*link as usize] ^= true;
        }
        let state = State {
            current: 0,
            turning: None,
            knows: vec![false; n],
            regions: vec![(0, false); n],
            reports: vec![0; n],
            distances: vec![false; n],
            marks: vec![None; n],
        };
        let run = Run {
            epoch,
            method,
            settings,
            target: Knowledge::of(&target),
            graph: graph.clone(),
            spread: Spread::new(n),
            merges,
            state,
        };
        match method {
            // All notice; the first one's flood wins.
            Method::Static | Method::Overlapped => {
                ground.after(settings.process_cycles, neighbours[0], (epoch, What::Join))
            }
            Method::Planned => {
                for s in neighbours {
                    ground.after(settings.process_cycles, *s, (epoch, What::Delta));
                }
                if change.comes() {
                    run.tell(ground, neighbours[0], change.switch(), run.ports(), What::Delta);
                }
            }
        }
        run
    }

    /// Ports of the whole network: what a message with the topology tells of.
    fn ports(&self) -> u32 {
        (0..self.graph.size()).map(|s| self.graph.around(s).count() as u32).sum()
    }

    /// Whether traffic goes on meanwhile.
    pub fn is_dynamic(&self) -> bool {
        self.method != Method::Static
    }

    /// A word to a neighbour. One that is not there any more hears nothing.
    fn tell(&self, ground: &mut impl Ground, from: u32, to: u32, ports: u32, what: What) {
        let Some((link, _)) = self.graph.around(from).find(|(_, n)| *n == to) else { return };
        let channel = ground.views().channel(&self.graph, link, from);
        let phits = self.settings.message_phits + ports * self.settings.port_phits;
        ground.send(channel, from, to, phits, (self.epoch, what));
    }

    fn tables_take(&self) -> u64 {
        self.settings.table_cycles * self.graph.alive.iter().filter(|a| **a).count() as u64
    }

    /// A switch has a message, or has finished something.
    pub fn handle(&mut self, ground: &mut impl Ground, event: Event<What>) {
        let Event { at: s, from, what } = event;
        match what {
            What::Join if self.spread.joined[s as usize] => self.tell(ground, s, from, 0, What::HadJoined),
            What::Join => {
                if self.method == Method::Static {
                    self.stop(ground, s);
                }
                for n in self.spread.join(&self.graph, s, (from != s).then_some(from)) {
                    self.tell(ground, s, n, 0, What::Join);
                }
                self.collected(ground, s);
            }
            What::HadJoined | What::Collected => {
                self.spread.answered(s, from, what == What::Collected);
                self.collected(ground, s);
            }
            What::Topology => {
                for child in self.spread.children[s as usize].clone() {
                    self.tell(ground, s, child, self.ports(), What::Topology);
                }
                ground.after(self.tables_take(), s, (self.epoch, What::Minimal));
            }
            What::Delta if self.state.knows[s as usize] => {}
            What::Delta => {
                self.state.knows[s as usize] = true;
                for (_, n) in self.graph.around(s).collect::<Vec<_>>() {
                    if n != from {
                        self.tell(ground, s, n, 0, What::Delta);
                    }
                }
                // Minimal tables first: they need no directions.
                ground.after(self.tables_take(), s, (self.epoch, What::Minimal));
                ground.after(2 * self.tables_take(), s, (self.epoch, What::Escape));
            }
            What::Minimal => {
                ground.views().minimal[s as usize] = Some(self.target.clone());
                if self.method == Method::Static {
                    ground.after(self.tables_take(), s, (self.epoch, What::Escape));
                }
                // A switch that has just come has no escape tables that could be stale.
                if self.method == Method::Overlapped && self.merges.is_empty() {
                    ground.after(self.tables_take(), s, (self.epoch, What::Escape));
                }
            }
            What::Escape => self.escape_tables(ground, s),
            What::Region => self.region(ground, s, true),
            What::Report => {
                self.state.reports[s as usize] += 1;
                self.report(ground, s);
            }
            What::Merge(to) => self.forward(ground, s, to),
            What::Mark(_) | What::Marked(_) => self.mark(ground, s, from, what),
            What::Turn(message) => self.turn(ground, s, from, message),
            What::Distances => self.distances(ground, s, from),
        }
    }

    /// Static: nothing moves here until there are new tables.
    fn stop(&mut self, ground: &mut impl Ground, s: u32) {
        let routing = ground.views();
        (routing.minimal[s as usize], routing.escape[s as usize], routing.before[s as usize]) =
            (None, None, None);
        ground.clear(s);
        ground.inject(s, false);
    }

    fn collected(&mut self, ground: &mut impl Ground, s: u32) {
        if !self.spread.complete(s) {
            return;
        }
        if let Some(parent) = self.spread.parent[s as usize] {
            return self.tell(ground, s, parent, self.spread.ports[s as usize], What::Collected);
        }
        // The root of the tree knows everything now.
        if self.method == Method::Static {
            // What came over from switches that had not joined yet is old as well.
            for t in (0..self.graph.size()).filter(|t| self.spread.joined[*t as usize]) {
                ground.clear(t);
            }
            for link in 0..self.graph.links.len() as u32 {
                let (a, b) = self.graph.links[link as usize];
                let rank = |t: u32| (self.spread.level[t as usize], t);
                self.graph.second_is_up[link as usize] = rank(b) < rank(a);
            }
            self.target = Knowledge::of(&self.graph);
        }
        ground.after(0, s, (self.epoch, What::Topology));
        if self.method == Method::Overlapped && !self.merges.is_empty() {
            for t in (0..self.graph.size()).filter(|t| self.spread.joined[*t as usize]) {
                if self.graph.above(t).next().is_none() {
                    // The word to begin travels along the tree with the topology's first phits.
                    let cycles = u64::from(self.spread.level[t as usize])
                        * (u64::from(self.settings.message_phits) + self.settings.process_cycles + 1);
                    ground.after(cycles, t, (self.epoch, What::Region));
                }
            }
        }
    }

    /// A switch has been told of the regions above it by one neighbour; when all have, it tells those below.
    fn region(&mut self, ground: &mut impl Ground, s: u32, told: bool) {
        let entry = &mut self.state.regions[s as usize];
        entry.0 += u32::from(told);
        let above = self.graph.above(s).count() as u32;
        if entry.1 || entry.0 < above.max(1) {
            return;
        }
        entry.1 = true;
        for (link, n) in self.graph.around(s).collect::<Vec<_>>() {
            if !self.graph.leads_up(link, s) {
                self.tell(ground, s, n, 1, What::Region);
            }
        }
        self.report(ground, s);
    }

    /// Borders are reported along the tree; its root decides.
    fn report(&mut self, ground: &mut impl Ground, s: u32) {
        if !self.state.regions[s as usize].1
            || self.state.reports[s as usize] < self.spread.children[s as usize].len() as u32
        {
            return;
        }
        match self.spread.parent[s as usize] {
            Some(parent) => self.tell(ground, s, parent, 2, What::Report),
            None => self.next_merge(ground, s),
        }
    }

    /// The switch that knows sends for the border.
    fn next_merge(&mut self, ground: &mut impl Ground, s: u32) {
        if let Some(merge) = self.merges.get(self.state.current) {
            let border = merge.border;
            self.forward(ground, s, border);
        }
    }

    fn forward(&mut self, ground: &mut impl Ground, s: u32, to: u32) {
        if s != to {
            let hops = self.graph.hops(to);
            let next = self.graph.around(s).map(|(_, n)| n).min_by_key(|n| (hops[*n as usize], *n));
            return self.tell(ground, s, next.expect("connected"), 1, What::Merge(to));
        }
        if self.state.turning.is_none() && self.merges[self.state.current].border == s {
            if self.method == Method::Overlapped {
                return self.mark(ground, s, s, What::Mark(s));
            }
            self.begin_turning(ground);
        }
    }

    /// Overlapped: the border makes itself known up to the false root, and hears back from it. The switches
    /// in between learn that they are.
    fn mark(&mut self, ground: &mut impl Ground, s: u32, from: u32, what: What) {
        let merge = &self.merges[self.state.current];
        let (border, root) = (merge.border, merge.root);
        let up_from = |t: u32| {
            merge.turns.iter().find(|turn| turn.switch == t).and_then(|turn| turn.links.first().copied())
        };
        match what {
            What::Mark(_) if s != root => {
                self.state.marks[s as usize] = Some(from);
                let link = up_from(s).expect("between the border and the root");
                let (a, b) = self.graph.links[link as usize];
                self.tell(ground, s, if a == s { b } else { a }, 0, What::Mark(border));
            }
            What::Mark(_) => self.tell(ground, s, from, 0, What::Marked(border)),
            _ if s == border => self.begin_turning(ground),
            _ => {
                let back = self.state.marks[s as usize].expect("it was marked");
                self.tell(ground, s, back, 0, What::Marked(border));
            }
        }
    }

    fn begin_turning(&mut self, ground: &mut impl Ground) {
        self.state.turning = Some(Turning::new(&self.merges[self.state.current]));
        let border = self.merges[self.state.current].border;
        self.take_turn(ground, border);
    }

    fn take_turn(&mut self, ground: &mut impl Ground, s: u32) {
        // Planned: a switch that has not heard of the change yet begins when it has.
        if self.method == Method::Planned && ground.views().before[s as usize].is_none() {
            return;
        }
        let Some(turning) = &mut self.state.turning else { return };
        let messages = turning.begin(s, &self.graph, ground.views());
        for message in messages {
            let Message::Reverse(link) = message else { continue };
            let (a, b) = self.graph.links[link as usize];
            self.tell(ground, s, if a == s { b } else { a }, 0, What::Turn(message));
        }
        self.turned(ground, s);
    }

    fn turn(&mut self, ground: &mut impl Ground, s: u32, from: u32, message: Message) {
        let turning = self.state.turning.as_mut().expect("a merge is going on");
        if let Some(answer) = turning.receive(s, message, &mut self.graph, ground.views()) {
            self.tell(ground, s, from, 0, What::Turn(answer));
        }
        self.take_turn(ground, s);
    }

    /// When the last link of a merge has been reversed, the false root sees to what comes next.
    fn turned(&mut self, ground: &mut impl Ground, s: u32) {
        if !self.state.turning.as_ref().is_some_and(Turning::finished) {
            return;
        }
        self.state.turning = None;
        self.state.current += 1;
        if self.state.current < self.merges.len() {
            return self.next_merge(ground, s);
        }
        if self.method == Method::Overlapped {
            self.distances(ground, s, s);
        }
    }

    /// Overlapped: escape tables follow by neighbours' distances, a flood from where the last link was
    /// reversed.
    fn distances(&mut self, ground: &mut impl Ground, s: u32, from: u32) {
        if std::mem::replace(&mut self.state.distances[s as usize], true) {
            return;
        }
        for (_, n) in self.graph.around(s).collect::<Vec<_>>() {
            if n != from {
                self.tell(ground, s, n, self.graph.size() / 2, What::Distances);
            }
        }
        ground.after(self.tables_take(), s, (self.epoch, What::Escape));
    }

    fn escape_tables(&mut self, ground: &mut impl Ground, s: u32) {
        let target = self.target.clone();
        let old = ground.views().escape[s as usize].replace(target.clone());
        ground.views().before[s as usize] = old.or(Some(target));
        match self.method {
            Method::Static => {
                // It takes its links for what the topology makes of them.
                for (link, _) in self.graph.around(s).collect::<Vec<_>>() {
                    let channel = ground.views().channel(&self.graph, link, s);
                    ground.views().view[channel] =
                        if self.graph.leads_up(link, s) { View::Up } else { View::Down };
                }
                ground.inject(s, true);
            }
            Method::Planned => {
                let first = self.merges.first().is_some_and(|m| m.border == s) && self.state.current == 0;
                if first && self.state.turning.is_none() {
                    self.begin_turning(ground);
                } else {
                    self.take_turn(ground, s);
                }
            }
            Method::Overlapped => {}
        }
    }
}
