//! A network whose links have directions, as up*/down* routing needs them.

use std::collections::VecDeque;

/// The distance of what cannot be reached.
pub const UNREACHABLE: u32 = u32::MAX;

/// A network whose links have an up end each. Switches and links that have failed keep their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DirectedGraph {
    /// By switch: whether it works.
    pub is_alive: Vec<bool>,
    /// By link: its two switches.
    pub links: Vec<(u32, u32)>,
    /// By link: whether it works.
    pub is_link_alive: Vec<bool>,
    /// By link: whether the second end is the up end.
    pub second_is_up: Vec<bool>,
}

impl DirectedGraph {
    /// The directions of a breadth-first tree: the up end is nearer to the root, and at equal distance it
    /// is the switch with the lower number. Switches that the root cannot reach are compared by number
    /// only.
    pub fn breadth_first(
        is_alive: Vec<bool>,
        links: Vec<(u32, u32)>,
        is_link_alive: Vec<bool>,
        root: u32,
    ) -> DirectedGraph {
        let mut graph =
            DirectedGraph { second_is_up: vec![false; links.len()], is_alive, links, is_link_alive };
        let level = graph.levels(root);
        for (i, (a, b)) in graph.links.clone().into_iter().enumerate() {
            graph.second_is_up[i] = (level[b as usize], b) < (level[a as usize], a);
        }
        graph
    }

    /// Number of switches, including those that have failed.
    pub fn size(&self) -> u32 {
        self.is_alive.len() as u32
    }

    /// The working links of a switch to working neighbours, each with the neighbour.
    pub fn neighbours(&self, s: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let other = move |(i, (a, b)): (usize, &(u32, u32))| match s {
            s if s == *a => Some((i as u32, *b)),
            s if s == *b => Some((i as u32, *a)),
            _ => None,
        };
        self.links
            .iter()
            .enumerate()
            .filter_map(other)
            .filter(|(i, n)| self.works(*i) && self.is_alive[*n as usize])
    }

    /// Whether a link and both of its ends work.
    pub fn works(&self, link: u32) -> bool {
        let (a, b) = self.links[link as usize];
        self.is_link_alive[link as usize] && self.is_alive[a as usize] && self.is_alive[b as usize]
    }

    /// Whether a switch is the lower end of a link.
    pub fn leads_up(&self, link: u32, from: u32) -> bool {
        (self.links[link as usize].0 == from) == self.second_is_up[link as usize]
    }

    /// The neighbours that are up from a switch, each with the link to it.
    pub fn neighbours_above(&self, s: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.neighbours(s).filter(move |(link, _)| self.leads_up(*link, s))
    }

    fn levels(&self, root: u32) -> Vec<u32> {
        self.search(root, |_, _| true)
    }

    /// By switch: hops to another one, regardless of directions.
    pub fn hops(&self, to: u32) -> Vec<u32> {
        if self.is_alive[to as usize] { self.levels(to) } else { vec![UNREACHABLE; self.is_alive.len()] }
    }

    /// By switch: hops from another one, over the links that are allowed in that direction. `allowed` gets
    /// the link and the switch from which it is used.
    pub(super) fn search(&self, from: u32, allowed: impl Fn(u32, u32) -> bool) -> Vec<u32> {
        let mut level = vec![UNREACHABLE; self.is_alive.len()];
        level[from as usize] = 0;
        let mut queue = VecDeque::from([from]);
        while let Some(s) = queue.pop_front() {
            for (link, next) in self.neighbours(s) {
                if level[next as usize] == UNREACHABLE && allowed(link, s) {
                    level[next as usize] = level[s as usize] + 1;
                    queue.push_back(next);
                }
            }
        }
        level
    }

    /// Working switches without a neighbour above them.
    pub fn roots(&self) -> Vec<u32> {
        (0..self.size())
            .filter(|s| self.is_alive[*s as usize] && self.neighbours_above(*s).next().is_none())
            .collect()
    }

    /// Whether no path of up links returns to its start.
    pub fn is_acyclic(&self) -> bool {
        let mut left: Vec<usize> = (0..self.size()).map(|s| self.neighbours_above(s).count()).collect();
        let mut free: Vec<u32> = (0..self.size()).filter(|s| left[*s as usize] == 0).collect();
        let mut removed = 0;
        while let Some(s) = free.pop() {
            removed += 1;
            for (link, below) in self.neighbours(s) {
                if !self.leads_up(link, s) {
                    left[below as usize] -= 1;
                    if left[below as usize] == 0 {
                        free.push(below);
                    }
                }
            }
        }
        removed == self.size()
    }

    /// The working switches that a working switch is connected with, including itself.
    pub fn component(&self, s: u32) -> Vec<u32> {
        let level = self.levels(s);
        (0..self.size()).filter(|t| level[*t as usize] != UNREACHABLE).collect()
    }

    /// By destination and switch: hops of the shortest legal path. At index 0 it may go up and then down,
    /// at index 1 only down.
    pub fn distances(&self) -> Vec<[Vec<u32>; 2]> {
        (0..self.size()).map(|to| self.distances_to(to)).collect()
    }

    fn distances_to(&self, to: u32) -> [Vec<u32>; 2] {
        // Paths that only go down are found from the destination, upwards.
        let down = self.search(to, |link, s| self.leads_up(link, s));
        let mut any = down.clone();
        // Relax until nothing changes.
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for s in 0..self.size() {
                let best = self
                    .neighbours_above(s)
                    .map(|(_, up)| any[up as usize].saturating_add(1))
                    .min()
                    .unwrap_or(UNREACHABLE);
                if best < any[s as usize] {
                    any[s as usize] = best;
                    has_changed = true;
                }
            }
        }
        [any, down]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn shortest_legal_paths_go_up_and_then_down() {
        // 1 and 2 are below 0, and 3 is below both.
        let graph = DirectedGraph::breadth_first(
            vec![true; 4],
            vec![(0, 1), (0, 2), (1, 3), (2, 3)],
            vec![true; 4],
            0,
        );
        assert_eq!(graph.roots(), [0]);
        let distances = graph.distances();
        // From 1 to 2 through the root, not through 3.
        assert_eq!((distances[2][0][1], distances[2][1][1]), (2, UNREACHABLE));
        assert_eq!((distances[3][0][0], distances[3][1][0]), (2, 2));
    }
}
