//! The tree of paths to one switch under an order of the channels.

use super::graph::Graph;
use super::positions::ChannelPositions;

/// No channel: at the root, and at switches that have no path to it. As a distance or position: greater
/// than all.
pub(crate) const NONE: u32 = u32::MAX;

/// All paths to one switch.
pub(crate) struct Tree {
    pub root: u32,
    /// By switch: the channel by which it forwards packets.
    pub next: Vec<u32>,
    /// By switch: hops to the root.
    pub distance: Vec<u32>,
    /// The switches of the tree, the root first, every other after its parent.
    pub from_root: Vec<u32>,
}

/// Builds trees one after the other in the same memory.
pub(crate) struct TreeBuilder {
    pub tree: Tree,
    /// By switch: the position of its next channel. That of the root is above all others.
    departure: Vec<u32>,
    /// By switch: the cost of its path, to choose among paths of the same length.
    cost: Vec<f64>,
    /// By channel: zeros, for trees without costs.
    no_costs: Vec<f64>,
}

impl TreeBuilder {
    /// A builder for the trees of a graph.
    pub fn new(graph: &Graph) -> TreeBuilder {
        let n = graph.switches;
        let tree =
            Tree { root: 0, next: vec![NONE; n], distance: vec![NONE; n], from_root: Vec::with_capacity(n) };
        TreeBuilder { tree, departure: vec![0; n], cost: vec![0.0; n], no_costs: vec![0.0; graph.channels] }
    }

    /// The tree of paths to `root`, as short as the order and the tree allow level by level.
    ///
    /// Without an order every turn is allowed and the paths are minimal. Among paths of the same length the
    /// one with the least sum of `costs` is chosen, and among equal ones the one that begins latest in the
    /// order, because more channels may precede it.
    pub fn build(
        &mut self,
        graph: &Graph,
        order: Option<&ChannelPositions>,
        root: u32,
        costs: &[f64],
    ) -> &Tree {
        self.add_level_by_level(graph, order, root, costs);
        if let (true, Some(order)) = (self.tree.from_root.len() < graph.switches, order) {
            self.add_remaining(graph, order, root);
        }
        &self.tree
    }

    /// As [`TreeBuilder::build`], but paths are never longer in sum than without costs.
    ///
    /// A cheaper channel may begin so early that switches behind it need longer paths. The tree is then
    /// built without costs, and switches take cheaper channels where no path becomes longer. `shortest`
    /// caches the sum of distances without costs.
    pub fn build_shortest(
        &mut self,
        graph: &Graph,
        order: Option<&ChannelPositions>,
        root: u32,
        costs: &[f64],
        shortest: &mut Option<u64>,
    ) -> &Tree {
        let sum = |tree: &Tree| {
            tree.from_root
                .iter()
                .map(|s| u64::from(tree.distance[*s as usize]) * u64::from(graph.senders[*s as usize]))
                .sum::<u64>()
        };
        let Some(order) = order else { return self.build(graph, None, root, costs) };
        let no_costs = std::mem::take(&mut self.no_costs);
        if shortest.is_none() {
            self.build(graph, Some(order), root, &no_costs);
            *shortest = Some(sum(&self.tree));
        }
        self.build(graph, Some(order), root, costs);
        if Some(sum(&self.tree)) > *shortest {
            self.build(graph, Some(order), root, &no_costs);
            self.choose_cheaper_channels(graph, &order.position, costs);
        }
        self.no_costs = no_costs;
        &self.tree
    }

    /// Gives switches, the nearest first, cheaper channels with the same distance, if the paths of their
    /// children still ascend.
    fn choose_cheaper_channels(&mut self, graph: &Graph, position: &[u32], costs: &[f64]) {
        let tree = &mut self.tree;
        for i in 1..tree.from_root.len() {
            let s = tree.from_root[i];
            let children =
                graph.entering(s).iter().filter(|c| tree.next[graph.from[**c as usize] as usize] == **c);
            let latest = children.map(|c| position[*c as usize]).max();
            let mut best = (f64::INFINITY, NONE);
            for c in graph.leaving(s) {
                let to = graph.to[*c as usize] as usize;
                let ascends = latest.is_none_or(|latest| latest < position[*c as usize])
                    && position[*c as usize] < self.departure[to];
                if ascends
                    && tree.distance[to] + 1 == tree.distance[s as usize]
                    && self.cost[to] + costs[*c as usize] < best.0
                {
                    best = (self.cost[to] + costs[*c as usize], *c);
                }
            }
            // The present channel is one of the candidates, so there is a best one.
            tree.next[s as usize] = best.1;
            self.departure[s as usize] = position[best.1 as usize];
            self.cost[s as usize] = best.0;
        }
    }

    /// Adds the switches that have shortest paths, by increasing distance.
    fn add_level_by_level(
        &mut self,
        graph: &Graph,
        order: Option<&ChannelPositions>,
        root: u32,
        costs: &[f64],
    ) {
        let position = order.map(|order| order.position.as_slice());
        let tree = &mut self.tree;
        tree.root = root;
        tree.next.fill(NONE);
        tree.distance.fill(NONE);
        tree.from_root.clear();
        tree.from_root.push(root);
        tree.distance[root as usize] = 0;
        self.departure[root as usize] = NONE;
        self.cost[root as usize] = 0.0;
        let mut begun = 0;
        while begun < tree.from_root.len() {
            // All switches from `begun` on have the same distance. Switches that are found now are one hop
            // further away, and may still get a better path of that length.
            let end = tree.from_root.len();
            for i in begun..end {
                let at = tree.from_root[i];
                let (latest, distance, cost_here) =
                    (self.departure[at as usize], tree.distance[at as usize] + 1, self.cost[at as usize]);
                for c in graph.entering(at) {
                    let s = graph.from[*c as usize] as usize;
                    let (p, ascends) = position.map_or((0, true), |position| {
                        (position[*c as usize], position[*c as usize] < latest)
                    });
                    if !ascends || tree.distance[s] < distance {
                        continue;
                    }
                    let cost = cost_here + costs[*c as usize];
                    if tree.distance[s] == NONE {
                        tree.distance[s] = distance;
                        tree.from_root.push(s as u32);
                    } else if (cost, NONE - p) >= (self.cost[s], NONE - self.departure[s]) {
                        continue;
                    }
                    tree.next[s] = *c;
                    self.departure[s] = p;
                    self.cost[s] = cost;
                }
            }
            begun = end;
        }
    }

    /// Gives switches that are not in the tree their latest paths.
    ///
    /// Where such a path reaches a switch of the tree too late, that switch and those after it take their
    /// own latest paths too. Their children still depart before them, because they now depart later.
    fn add_remaining(&mut self, graph: &Graph, order: &ChannelPositions, root: u32) {
        let latest = latest_departures(graph, order, root);
        let position = &order.position;
        for s in 0..graph.switches as u32 {
            let mut at = s;
            while self.tree.distance[s as usize] == NONE
                && latest[at as usize] != NONE
                && self.tree.next[at as usize] != latest[at as usize]
            {
                let c = latest[at as usize];
                self.tree.next[at as usize] = c;
                self.departure[at as usize] = position[c as usize];
                at = graph.to[c as usize];
                let meets = at == root || self.tree.next[at as usize] != NONE;
                if meets && position[c as usize] < self.departure[at as usize] {
                    break;
                }
            }
        }
        // The descendants of a switch that has a new parent have new distances.
        let tree = &mut self.tree;
        tree.from_root.clear();
        tree.from_root.push(root);
        let mut i = 0;
        while let Some(at) = tree.from_root.get(i).copied() {
            i += 1;
            for c in graph.entering(at) {
                let s = graph.from[*c as usize];
                if tree.next[s as usize] == *c {
                    tree.distance[s as usize] = tree.distance[at as usize] + 1;
                    tree.from_root.push(s);
                }
            }
        }
    }
}

/// By switch: the first channel of its path to the root that begins latest; `NONE` if it has no ascending
/// path.
///
/// O(channels): channels are tried from the last of the order to the first. The first one by which a switch
/// can depart is its latest.
fn latest_departures(graph: &Graph, order: &ChannelPositions, root: u32) -> Vec<u32> {
    let mut latest = vec![NONE; graph.switches];
    for c in &order.latest_first {
        let (s, to) = (graph.from[*c as usize], graph.to[*c as usize]);
        if s != root && latest[s as usize] == NONE && (to == root || latest[to as usize] != NONE) {
            latest[s as usize] = *c;
        }
    }
    latest
}

impl Tree {
    /// Fills in, by switch, how many end nodes send through it, including its own. At the root these are
    /// all that reach it.
    pub fn count_senders(&self, graph: &Graph, through: &mut Vec<u32>) {
        through.clear();
        through.extend_from_slice(&graph.senders);
        for s in self.from_root[1..].iter().rev() {
            let to = graph.to[self.next[*s as usize] as usize];
            through[to as usize] += through[*s as usize];
        }
    }
}
