//! The tree of paths to one destination under an order of the channels.

use super::{Graph, Places};

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
    /// By channel.
    no_costs: Vec<f64>,
}

impl TreeBuilder {
    pub fn new(graph: &Graph) -> TreeBuilder {
        let n = graph.switches;
        let tree =
            Tree { root: 0, next: vec![NONE; n], distance: vec![NONE; n], order: Vec::with_capacity(n) };
        TreeBuilder { tree, departure: vec![0; n], cost: vec![0.0; n], no_costs: vec![0.0; graph.channels] }
    }

    /// The tree of paths to `root`, as short as the order and the tree's shape allow level by level.
    /// Without an order, every turn is allowed, and the paths are minimal. Among paths of one length, the
    /// one with the least sum of its channels' `costs`; of equals, the one that begins latest in the order,
    /// which leaves others the most room.
    pub fn build(&mut self, graph: &Graph, order: Option<&Places>, root: u32, costs: &[f64]) -> &Tree {
        self.level_by_level(graph, order, root, costs);
        if let (true, Some(order)) = (self.tree.order.len() < graph.switches, order) {
            self.add_the_rest(graph, order, root);
        }
        &self.tree
    }

    /// As [`TreeBuilder::build`], but never longer than without costs: where the cheaper of two channels is
    /// one that leaves others too little room, the tree is built without costs, and switches then take
    /// cheaper channels where nobody's path becomes longer. `shortest` is the sum of distances without
    /// costs.
    pub fn build_short(
        &mut self,
        graph: &Graph,
        order: Option<&Places>,
        root: u32,
        costs: &[f64],
        shortest: &mut Option<u64>,
    ) -> &Tree {
        let sum = |tree: &Tree| {
            tree.order
                .iter()
                .map(|s| u64::from(tree.distance[*s as usize]) * u64::from(graph.weight[*s as usize]))
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
            self.cheapen(graph, &order.place, costs);
        }
        self.no_costs = no_costs;
        &self.tree
    }

    /// Hangs switches, the nearest first, below cheaper channels of the same distance, where what hangs
    /// below them still ascends.
    fn cheapen(&mut self, graph: &Graph, place: &[u32], costs: &[f64]) {
        let tree = &mut self.tree;
        for i in 1..tree.order.len() {
            let s = tree.order[i];
            let below =
                graph.entering(s).iter().filter(|c| tree.next[graph.from[**c as usize] as usize] == **c);
            let latest = below.map(|c| place[*c as usize]).max();
            let mut best = (f64::INFINITY, NONE);
            for c in graph.leaving(s) {
                let to = graph.to[*c as usize] as usize;
                let ascends = latest.is_none_or(|latest| latest < place[*c as usize])
                    && place[*c as usize] < self.departure[to];
                if ascends
                    && tree.distance[to] + 1 == tree.distance[s as usize]
                    && self.cost[to] + costs[*c as usize] < best.0
                {
                    best = (self.cost[to] + costs[*c as usize], *c);
                }
            }
            // What it has is among them.
            tree.next[s as usize] = best.1;
            self.departure[s as usize] = place[best.1 as usize];
            self.cost[s as usize] = best.0;
        }
    }

    fn level_by_level(&mut self, graph: &Graph, order: Option<&Places>, root: u32, costs: &[f64]) {
        let place = order.map(|order| order.place.as_slice());
        let tree = &mut self.tree;
        tree.root = root;
        tree.next.fill(NONE);
        tree.distance.fill(NONE);
        tree.order.clear();
        tree.order.push(root);
        tree.distance[root as usize] = 0;
        self.departure[root as usize] = NONE;
        self.cost[root as usize] = 0.0;
        let mut begun = 0;
        while begun < tree.order.len() {
            // Everything from `begun` on has one and the same distance; what is found now is one further
            // away, and may still find a better path.
            let end = tree.order.len();
            for i in begun..end {
                let at = tree.order[i];
                let (latest, distance, cost_here) =
                    (self.departure[at as usize], tree.distance[at as usize] + 1, self.cost[at as usize]);
                for c in graph.entering(at) {
                    let s = graph.from[*c as usize] as usize;
                    let (p, ascends) =
                        place.map_or((0, true), |place| (place[*c as usize], place[*c as usize] < latest));
                    if !ascends || tree.distance[s] < distance {
                        continue;
                    }
                    let cost = cost_here + costs[*c as usize];
                    if tree.distance[s] == NONE {
                        tree.distance[s] = distance;
                        tree.order.push(s as u32);
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

    /// Gives the switches that shortest paths have left over their latest paths. Where such a path meets
    /// the tree too late, the switch that it meets, and those after it, take their own latest paths too;
    /// whoever hangs below them departs before them still, as they depart later than before.
    fn add_the_rest(&mut self, graph: &Graph, order: &Places, root: u32) {
        let latest = latest_departures(graph, order, root);
        let place = &order.place;
        for s in 0..graph.switches as u32 {
            let mut at = s;
            while self.tree.distance[s as usize] == NONE
                && latest[at as usize] != NONE
                && self.tree.next[at as usize] != latest[at as usize]
            {
                let c = latest[at as usize];
                self.tree.next[at as usize] = c;
                self.departure[at as usize] = place[c as usize];
                at = graph.to[c as usize];
                let meets = at == root || self.tree.next[at as usize] != NONE;
                if meets && place[c as usize] < self.departure[at as usize] {
                    break;
                }
            }
        }
        // Everything below a switch that was hung elsewhere has another distance.
        let tree = &mut self.tree;
        tree.order.clear();
        tree.order.push(root);
        let mut i = 0;
        while let Some(at) = tree.order.get(i).copied() {
            i += 1;
            for c in graph.entering(at) {
                let s = graph.from[*c as usize];
                if tree.next[s as usize] == *c {
                    tree.distance[s as usize] = tree.distance[at as usize] + 1;
                    tree.order.push(s);
                }
            }
        }
    }
}

/// By switch: the first channel of its path to the root that begins latest; `NONE` where nothing
/// ascends there. O(channels): from the last channel of the order to the first, whoever can depart for
/// the first time departs latest.
fn latest_departures(graph: &Graph, order: &Places, root: u32) -> Vec<u32> {
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
