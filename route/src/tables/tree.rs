//! The tree of paths to one destination under an order of the channels.

use super::Graph;
use std::collections::BinaryHeap;

/// No channel: at the root, and where nothing leads to the root.
pub(crate) const NONE: u32 = u32::MAX;

/// All paths to one switch.
pub(crate) struct Tree {
    pub root: u32,
    /// By switch: the channel by which it sends on.
    pub next: Vec<u32>,
    /// By switch: hops to the root.
    pub distance: Vec<u32>,
    /// The switches that are in the tree, each after the one that it sends to; the root is first.
    pub order: Vec<u32>,
}

/// Builds trees; keeps the memory for them.
pub(crate) struct TreeBuilder {
    pub tree: Tree,
    /// By switch: the place of its next channel; the root's is above all.
    departure: Vec<u32>,
    /// By switch: what the path costs, to choose among paths of one length.
    cost: Vec<f64>,
    /// By switch: the only channel that it may take, if it had no path otherwise.
    forced: Vec<u32>,
}

/// What decides between paths of one length.
pub(crate) enum Choice<'a> {
    /// The path whose first channel comes last in the order: that leaves others the most room.
    Latest,
    /// The path with the least sum of these costs of its channels.
    Cheapest(&'a [f64]),
}

impl TreeBuilder {
    pub fn new(graph: &Graph) -> TreeBuilder {
        let n = graph.switches;
        let tree = Tree { root: 0, next: vec![NONE; n], distance: vec![NONE; n], order: Vec::with_capacity(n) };
        TreeBuilder { tree, departure: vec![0; n], cost: vec![0.0; n], forced: vec![NONE; n] }
    }

    /// The tree of paths to `root`, as short as the order and the tree's shape allow level by level. `place` is the order, by channel.
    pub fn build(&mut self, graph: &Graph, place: &[u32], root: u32, choice: &Choice) -> &Tree {
        self.forced.fill(NONE);
        loop {
            self.level_by_level(graph, place, root, choice);
            if self.tree.order.len() == graph.switches || !self.force_the_rest(graph, place, root) {
                return &self.tree;
            }
        }
    }

    fn level_by_level(&mut self, graph: &Graph, place: &[u32], root: u32, choice: &Choice) {
        let tree = &mut self.tree;
        tree.root = root;
        tree.next.fill(NONE);
        tree.distance.fill(NONE);
        tree.order.clear();
        tree.order.push(root);
        tree.distance[root as usize] = 0;
        self.departure[root as usize] = u32::MAX;
        self.cost[root as usize] = 0.0;
        let mut begun = 0;
        while begun < tree.order.len() {
            // Everything from `begun` on has one and the same distance; what is found now is one further away, and may still find a better path.
            let end = tree.order.len();
            for i in begun..end {
                let at = tree.order[i];
                let (latest, distance, cost_here) = (self.departure[at as usize], tree.distance[at as usize] + 1, self.cost[at as usize]);
                for c in graph.entering(at) {
                    let (s, p) = (graph.from[*c as usize] as usize, place[*c as usize]);
                    if p >= latest || tree.distance[s] < distance || (self.forced[s] != NONE && self.forced[s] != *c) {
                        continue;
                    }
                    let cost = if let Choice::Cheapest(costs) = choice { cost_here + costs[*c as usize] } else { 0.0 };
                    if tree.distance[s] == NONE {
                        tree.distance[s] = distance;
                        tree.order.push(s as u32);
                    } else {
                        let better = match choice {
                            Choice::Latest => p > self.departure[s],
                            Choice::Cheapest(_) => cost < self.cost[s] || (cost == self.cost[s] && p > self.departure[s]),
                        };
                        if !better {
                            continue;
                        }
                    }
                    tree.next[s] = *c;
                    self.departure[s] = p;
                    self.cost[s] = cost;
                }
            }
            begun = end;
        }
    }

    /// Sets the switches that are not in the tree, and all on their latest paths, to these paths. False if nothing more can be done.
    fn force_the_rest(&mut self, graph: &Graph, place: &[u32], root: u32) -> bool {
        // Whoever departs latest is settled first: paths through others depart earlier still.
        let mut latest = vec![NONE; graph.switches];
        let mut settled = vec![false; graph.switches];
        let mut heap = BinaryHeap::from([(u32::MAX, root)]);
        while let Some((departure, at)) = heap.pop() {
            if std::mem::replace(&mut settled[at as usize], true) {
                continue;
            }
            for c in graph.entering(at) {
                let (s, p) = (graph.from[*c as usize], place[*c as usize]);
                let known = latest[s as usize];
                if p < departure && !settled[s as usize] && (known == NONE || p > place[known as usize]) {
                    latest[s as usize] = *c;
                    heap.push((p, s));
                }
            }
        }
        let mut forced_one = false;
        for s in 0..graph.switches as u32 {
            let mut at = s;
            while self.tree.distance[s as usize] == NONE && at != root && latest[at as usize] != NONE && self.forced[at as usize] == NONE {
                self.forced[at as usize] = latest[at as usize];
                forced_one = true;
                at = graph.to[latest[at as usize] as usize];
            }
        }
        forced_one
    }
}

impl Tree {
    /// By switch: how many end nodes send through it, its own among them; at the root, all that reach it.
    pub fn sending(&self, graph: &Graph, through: &mut Vec<u32>) {
        through.clear();
        through.extend_from_slice(&graph.weight);
        for s in self.order[1..].iter().rev() {
            let to = graph.to[self.next[*s as usize] as usize];
            through[to as usize] += through[*s as usize];
        }
    }
}
