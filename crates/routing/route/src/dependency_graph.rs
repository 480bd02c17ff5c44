//! A channel dependency graph that stays free of cycles, with a topological order of it.
//!
//! The order is maintained incrementally (Pearce and Kelly 2006).

use crate::visited_set::VisitedSet;

/// Dependencies between vertices, with a use count for each. A vertex is a channel on a virtual lane. An
/// edge from a to b means that packets may hold a while they wait for b.
#[derive(Clone, Debug)]
pub struct DependencyGraph {
    /// By vertex: its edges. There are few, to the channels that leave one switch.
    after: Vec<Vec<Edge>>,
    /// By vertex: the vertices with an edge in use to it.
    before: Vec<Vec<u32>>,
    /// By vertex: its position in the topological order. Every edge leads to a higher position.
    position: Vec<u32>,
    /// Number of edges that have been removed so far, plus 1. An edge that closed a cycle keeps closing it
    /// until another edge is removed.
    removals: u32,
    visited: VisitedSet,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    /// How often it is used. An edge with 0 uses is not in the graph.
    uses: u32,
    /// The number of removals when the edge was last found to close a cycle.
    refused_at: u32,
}

impl DependencyGraph {
    /// A graph without edges.
    pub fn new(vertices: usize) -> DependencyGraph {
        let (after, before, visited) =
            (vec![Vec::new(); vertices], vec![Vec::new(); vertices], VisitedSet::new(vertices));
        DependencyGraph { after, before, position: (0..vertices as u32).collect(), removals: 1, visited }
    }

    /// The vertices in topological order: every edge leads to a later one.
    pub fn topological_order(&self) -> Vec<u32> {
        let mut all: Vec<u32> = (0..self.position.len() as u32).collect();
        all.sort_unstable_by_key(|v| self.position[*v as usize]);
        all
    }

    /// Whether an edge is in the graph.
    pub fn contains(&self, from: u32, to: u32) -> bool {
        self.after[from as usize].iter().any(|e| e.to == to && e.uses > 0)
    }

    /// Adds one use of each of these edges. If together they would close a cycle, it changes nothing and
    /// returns false.
    pub fn try_add(&mut self, pairs: &[(u32, u32)]) -> bool {
        if pairs.iter().any(|(from, to)| self.is_known_to_close_cycle(*from, *to)) {
            return false;
        }
        let mut new = false;
        for (i, (from, to)) in pairs.iter().enumerate() {
            match self.add(*from, *to) {
                Some(is_new) => new |= is_new,
                None => {
                    for (from, to) in &pairs[..i] {
                        self.release(*from, *to);
                    }
                    // If this edge closes a cycle by itself, it need not be tried again before an edge is
                    // removed.
                    if !new || self.closes_cycle(*from, *to) {
                        let removals = self.removals;
                        self.edge(*from, *to).refused_at = removals;
                    }
                    return false;
                }
            }
        }
        true
    }

    /// Removes one use of an edge.
    pub fn remove(&mut self, from: u32, to: u32) {
        if self.release(from, to) {
            self.removals += 1;
        }
    }

    /// Whether an edge was found to close a cycle, and no edge has been removed since.
    fn is_known_to_close_cycle(&self, from: u32, to: u32) -> bool {
        self.after[from as usize].iter().any(|e| e.to == to && e.refused_at == self.removals)
    }

    /// An edge, whether it is in the graph or not.
    fn edge(&mut self, from: u32, to: u32) -> &mut Edge {
        let edges = &mut self.after[from as usize];
        let index = edges.iter().position(|e| e.to == to).unwrap_or_else(|| {
            edges.push(Edge { to, uses: 0, refused_at: 0 });
            edges.len() - 1
        });
        &mut edges[index]
    }

    /// Adds one use of an edge. Returns whether the edge is new; `None` if it would close a cycle.
    fn add(&mut self, from: u32, to: u32) -> Option<bool> {
        let edge = self.edge(from, to);
        if edge.uses > 0 {
            edge.uses += 1;
            return Some(false);
        }
        if from == to
            || (self.position[from as usize] > self.position[to as usize] && !self.reorder(from, to))
        {
            return None;
        }
        self.edge(from, to).uses = 1;
        self.before[to as usize].push(from);
        Some(true)
    }

    /// Removes one use of an edge. Returns whether that was the last one.
    fn release(&mut self, from: u32, to: u32) -> bool {
        let edge = self.edge(from, to);
        edge.uses = edge.uses.checked_sub(1).expect("the edge is in use");
        let is_last = edge.uses == 0;
        if is_last {
            let before = &mut self.before[to as usize];
            let index = before.iter().position(|v| *v == from).expect("both ends of an edge have it");
            before.swap_remove(index);
        }
        is_last
    }

    /// Whether an edge that is not in the graph would close a cycle.
    fn closes_cycle(&mut self, from: u32, to: u32) -> bool {
        from == to
            || (self.position[from as usize] > self.position[to as usize]
                && self.after_within(to, self.position[from as usize], from).is_none())
    }

    /// Changes the topological order so that an edge can be added. Returns false if a path leads back.
    fn reorder(&mut self, from: u32, to: u32) -> bool {
        let (low, high) = (self.position[to as usize], self.position[from as usize]);
        let Some(mut forward) = self.after_within(to, high, from) else { return false };
        let mut backward = self.before_within(from, low);
        // The vertices that lead to `from` come before those that follow `to`, in the positions that both
        // had.
        let by_position = |v: &u32| self.position[*v as usize];
        backward.sort_unstable_by_key(by_position);
        forward.sort_unstable_by_key(by_position);
        let all: Vec<u32> = backward.into_iter().chain(forward).collect();
        let mut positions: Vec<u32> = all.iter().map(|v| self.position[*v as usize]).collect();
        positions.sort_unstable();
        for (v, position) in all.into_iter().zip(positions) {
            self.position[v as usize] = position;
        }
        true
    }

    /// All vertices that `start` leads to, up to the position `high`; `None` if `forbidden` is among them.
    fn after_within(&mut self, start: u32, high: u32, forbidden: u32) -> Option<Vec<u32>> {
        self.visited.clear();
        let mut found = vec![start];
        let mut i = 0;
        while let Some(at) = found.get(i).copied() {
            i += 1;
            if at == forbidden {
                return None;
            }
            for edge in self.after[at as usize].iter().filter(|e| e.uses > 0) {
                if self.position[edge.to as usize] <= high && self.visited.insert(edge.to) {
                    found.push(edge.to);
                }
            }
        }
        Some(found)
    }

    /// All vertices that lead to `start`, down to the position `low`.
    fn before_within(&mut self, start: u32, low: u32) -> Vec<u32> {
        self.visited.clear();
        let mut found = vec![start];
        let mut i = 0;
        while let Some(at) = found.get(i).copied() {
            i += 1;
            for v in &self.before[at as usize] {
                if self.position[*v as usize] >= low && self.visited.insert(*v) {
                    found.push(*v);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    /// Whether edges lead from `from` to `to`.
    fn leads(edges: &std::collections::HashSet<(u32, u32)>, from: u32, to: u32) -> bool {
        let mut seen = vec![from];
        let mut i = 0;
        while i < seen.len() {
            for (a, b) in edges {
                if *a == seen[i] && !seen.contains(b) {
                    seen.push(*b);
                }
            }
            i += 1;
        }
        seen.contains(&to)
    }

    #[test]
    fn either_all_edges_are_added_or_none() {
        let mut random = Random::new(9);
        let (mut added, mut refused) = (0, 0);
        for _ in 0..60 {
            let mut graph = DependencyGraph::new(8);
            // One entry for each use.
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for _ in 0..80 {
                if !edges.is_empty() && random.below(4) == 0 {
                    let (a, b) = edges.swap_remove(random.below(edges.len()));
                    graph.remove(a, b);
                    continue;
                }
                let pairs: Vec<(u32, u32)> = (0..1 + random.below(4))
                    .map(|_| (random.below(8) as u32, random.below(8) as u32))
                    .collect();
                let with: std::collections::HashSet<(u32, u32)> =
                    edges.iter().chain(&pairs).copied().collect();
                let closes = with.iter().any(|(a, b)| leads(&with, *b, *a));
                assert_eq!(graph.try_add(&pairs), !closes, "{pairs:?} with {edges:?}");
                if closes {
                    refused += 1;
                } else {
                    added += 1;
                    edges.extend(pairs);
                }
            }
        }
        assert!(added > 100 && refused > 100, "too few of one kind: {added} added, {refused} refused");
    }

    #[test]
    fn exactly_the_edges_that_would_close_a_cycle_are_refused() {
        let mut random = Random::new(4);
        for _ in 0..40 {
            let mut graph = DependencyGraph::new(9);
            let mut edges = std::collections::HashSet::new();
            for _ in 0..120 {
                let (a, b) = (random.below(9) as u32, random.below(9) as u32);
                if edges.contains(&(a, b)) {
                    if random.below(3) == 0 {
                        graph.remove(a, b);
                        edges.remove(&(a, b));
                    }
                } else {
                    let closes = leads(&edges, b, a);
                    assert_eq!(graph.try_add(&[(a, b)]), !closes, "{a} -> {b} with {edges:?}");
                    if !closes {
                        edges.insert((a, b));
                    }
                }
            }
        }
    }
}
