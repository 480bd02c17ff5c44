//! Links with directions: who is up, how far packets have to go, and which links to reverse when there
//! is more than one root.

use std::collections::VecDeque;

/// Stands for "cannot be reached".
pub const FAR: u32 = u32::MAX;

/// An undirected network whose links have an up end each. Dead switches and links keep their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Directed {
    pub alive: Vec<bool>,
    pub links: Vec<(u32, u32)>,
    pub link_alive: Vec<bool>,
    /// By link: whether the second end is the up end.
    pub second_is_up: Vec<bool>,
}

/// One switch reverses its links to some neighbours above it, when its own turn has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub switch: u32,
    /// Links whose other ends are up and will be down.
    pub links: Vec<u32>,
    /// How many links other switches reverse with this one before its turn.
    pub after: u32,
}

/// A false root is put below another region: the turns of those on the way from the border to it, each
/// when those below have had theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    pub border: u32,
    pub root: u32,
    pub turns: Vec<Turn>,
}

impl Directed {
    /// Directions by a breadth-first tree from a root: the up end is nearer to it, among equals the one
    /// with the lower number. What cannot be reached keeps the rule of numbers.
    pub fn breadth_first(
        alive: Vec<bool>,
        links: Vec<(u32, u32)>,
        link_alive: Vec<bool>,
        root: u32,
    ) -> Directed {
        let mut graph = Directed { second_is_up: vec![false; links.len()], alive, links, link_alive };
        let level = graph.levels(root);
        for (i, (a, b)) in graph.links.clone().into_iter().enumerate() {
            graph.second_is_up[i] = (level[b as usize], b) < (level[a as usize], a);
        }
        graph
    }

    pub fn size(&self) -> u32 {
        self.alive.len() as u32
    }

    /// Live links of a switch, each with its other end.
    pub fn around(&self, s: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let other = move |(i, (a, b)): (usize, &(u32, u32))| match s {
            s if s == *a => Some((i as u32, *b)),
            s if s == *b => Some((i as u32, *a)),
            _ => None,
        };
        self.links
            .iter()
            .enumerate()
            .filter_map(other)
            .filter(|(i, n)| self.works(*i) && self.alive[*n as usize])
    }

    /// Whether a link and both of its ends work.
    pub fn works(&self, link: u32) -> bool {
        let (a, b) = self.links[link as usize];
        self.link_alive[link as usize] && self.alive[a as usize] && self.alive[b as usize]
    }

    /// Whether a switch is the lower end of a link.
    pub fn leads_up(&self, link: u32, from: u32) -> bool {
        (self.links[link as usize].0 == from) == self.second_is_up[link as usize]
    }

    /// Neighbours above, with the links to them.
    pub fn above(&self, s: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.around(s).filter(move |(link, _)| self.leads_up(*link, s))
    }

    fn levels(&self, root: u32) -> Vec<u32> {
        self.search(root, |_, _| true)
    }

    /// Steps to a switch from all others, whatever the directions.
    pub fn hops(&self, to: u32) -> Vec<u32> {
        if self.alive[to as usize] { self.levels(to) } else { vec![FAR; self.alive.len()] }
    }

    /// Steps to all others from one, over the links that are allowed in that direction.
    fn search(&self, from: u32, allowed: impl Fn(u32, u32) -> bool) -> Vec<u32> {
        let mut level = vec![FAR; self.alive.len()];
        level[from as usize] = 0;
        let mut queue = VecDeque::from([from]);
        while let Some(s) = queue.pop_front() {
            for (link, next) in self.around(s) {
                if level[next as usize] == FAR && allowed(link, s) {
                    level[next as usize] = level[s as usize] + 1;
                    queue.push_back(next);
                }
            }
        }
        level
    }

    /// Live switches with nobody above them.
    pub fn roots(&self) -> Vec<u32> {
        (0..self.size()).filter(|s| self.alive[*s as usize] && self.above(*s).next().is_none()).collect()
    }

    /// Whether no way up leads back to where it began.
    pub fn acyclic(&self) -> bool {
        let mut left: Vec<usize> = (0..self.size()).map(|s| self.above(s).count()).collect();
        let mut free: Vec<u32> = (0..self.size()).filter(|s| left[*s as usize] == 0).collect();
        let mut taken = 0;
        while let Some(s) = free.pop() {
            taken += 1;
            for (link, below) in self.around(s) {
                if !self.leads_up(link, s) {
                    left[below as usize] -= 1;
                    if left[below as usize] == 0 {
                        free.push(below);
                    }
                }
            }
        }
        taken == self.size()
    }

    /// Live switches that a live switch is joined with.
    pub fn component(&self, s: u32) -> Vec<u32> {
        let level = self.levels(s);
        (0..self.size()).filter(|t| level[*t as usize] != FAR).collect()
    }

    /// `[to][0]`: steps from each switch going up and then down; `[to][1]`: going down only.
    pub fn distances(&self) -> Vec<[Vec<u32>; 2]> {
        (0..self.size()).map(|to| self.distances_to(to)).collect()
    }

    fn distances_to(&self, to: u32) -> [Vec<u32>; 2] {
        // From the destination a way down is climbed backwards.
        let down = self.search(to, |link, s| self.leads_up(link, s));
        let mut any = down.clone();
        // Nearest first, with ways of one step: buckets are a queue that is searched anew.
        let mut changed = true;
        while changed {
            changed = false;
            for s in 0..self.size() {
                let best =
                    self.above(s).map(|(_, up)| any[up as usize].saturating_add(1)).min().unwrap_or(FAR);
                if best < any[s as usize] {
                    any[s as usize] = best;
                    changed = true;
                }
            }
        }
        [any, down]
    }

    /// What to reverse so that each connected part has one root again: one false root after the other goes
    /// below another region. The largest region's root stays.
    pub fn merges(&self) -> Vec<Merge> {
        let mut graph = self.clone();
        let mut merges = Vec::new();
        while let Some(merge) = graph.next_merge() {
            for turn in &merge.turns {
                turn.links.iter().for_each(|link| graph.second_is_up[*link as usize] ^= true);
            }
            merges.push(merge);
        }
        merges
    }

    fn next_merge(&self) -> Option<Merge> {
        // Who can climb to each root.
        let roots = self.roots();
        let regions: Vec<Vec<bool>> = roots
            .iter()
            .map(|r| self.search(*r, |link, s| !self.leads_up(link, s)).iter().map(|l| *l != FAR).collect())
            .collect();
        let size = |i: usize| regions[i].iter().filter(|in_it| **in_it).count();
        let mut best: Option<(usize, u32, u32, Vec<bool>)> = None;
        for (i, root) in roots.iter().enumerate() {
            let joined = self.component(*root);
            let stays = (0..roots.len())
                .filter(|j| joined.contains(&roots[*j]))
                .max_by_key(|j| (size(*j), std::cmp::Reverse(roots[*j])));
            if stays == Some(i) {
                continue;
            }
            for border in (0..self.size()).filter(|b| regions[i][*b as usize]) {
                if !self.above(border).any(|(_, up)| !regions[i][up as usize]) {
                    continue;
                }
                // Those between the border and the root.
                let climbed = self.search(border, |link, s| self.leads_up(link, s));
                let between: Vec<bool> =
                    (0..self.alive.len()).map(|s| climbed[s] != FAR && regions[i][s]).collect();
                let count = between.iter().filter(|b| **b).count();
                if best.as_ref().is_none_or(|b| count < b.0) {
                    best = Some((count, border, *root, between));
                }
            }
        }
        let (_, border, root, between) = best?;
        let inside = |s: u32| between[s as usize];
        let turns = (0..self.size())
            .filter(|s| inside(*s))
            .map(|switch| Turn {
                switch,
                links: self.above(switch).filter(|(_, up)| inside(*up)).map(|(link, _)| link).collect(),
                after: self
                    .around(switch)
                    .filter(|(link, other)| inside(*other) && !self.leads_up(*link, switch))
                    .count() as u32,
            })
            .collect();
        Some(Merge { border, root, turns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_route::{Random, generate};

    fn random(switches: usize, degree: usize, seed: u64) -> Directed {
        let network = generate::irregular(
            generate::Irregular { switches, degree, end_nodes: 0, parallel: false },
            seed,
        )
        .unwrap();
        let links: Vec<(u32, u32)> =
            network.channel_ids().step_by(2).map(|c| (network.from(c).0, network.to(c).0)).collect();
        Directed::breadth_first(vec![true; switches], links.clone(), vec![true; links.len()], 0)
    }

    #[test]
    fn after_any_failure_merges_leave_one_root_and_no_circle_at_any_turn() {
        let mut seen = 0;
        for seed in 0..60 {
            let mut graph = random(8 + seed as usize % 17, 3, seed);
            let mut random = Random::new(seed);
            // The root, and now and then another switch or a link.
            graph.alive[0] = false;
            if seed % 3 == 0 {
                graph.alive[1 + random.below(7)] = false;
            }
            let broken = random.below(graph.links.len());
            graph.link_alive[broken] = seed % 2 == 0;
            let merges = graph.merges();
            for merge in &merges {
                let mut left = merge.turns.clone();
                let mut had = vec![0; graph.alive.len()];
                let roots = graph.roots().len();
                while !left.is_empty() {
                    // Any turn whose time has come may be next.
                    let ready: Vec<usize> =
                        (0..left.len()).filter(|i| had[left[*i].switch as usize] == left[*i].after).collect();
                    let turn = left.swap_remove(ready[random.below(ready.len())]);
                    for link in turn.links {
                        let (a, b) = graph.links[link as usize];
                        graph.second_is_up[link as usize] ^= true;
                        had[if a == turn.switch { b } else { a } as usize] += 1;
                    }
                    assert!(graph.acyclic(), "seed {seed}");
                    assert!(graph.roots().len() <= roots, "seed {seed}: no new root");
                    seen += 1;
                }
            }
            for root in graph.roots() {
                let part = graph.component(root);
                assert_eq!(graph.roots().iter().filter(|r| part.contains(r)).count(), 1, "seed {seed}");
                let distances = graph.distances();
                assert!(
                    part.iter().all(|a| part.iter().all(|b| distances[*b as usize][0][*a as usize] != FAR)),
                    "seed {seed}"
                );
            }
        }
        assert!(seen > 50, "{seen}");
    }

    #[test]
    fn distances_go_up_and_then_down() {
        // 1 and 2 below 0, and 3 below both.
        let graph =
            Directed::breadth_first(vec![true; 4], vec![(0, 1), (0, 2), (1, 3), (2, 3)], vec![true; 4], 0);
        assert_eq!(graph.roots(), [0]);
        let distances = graph.distances();
        assert_eq!((distances[2][0][1], distances[2][1][1]), (2, FAR)); // over the root, never through 3
        assert_eq!((distances[3][0][0], distances[3][1][0]), (2, 2));
    }
}
