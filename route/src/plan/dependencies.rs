//! Which channel waits for which, and an order of the channels that shows that no cycle closes, kept up to date (Pearce and Kelly 2006).

use std::collections::HashMap;

/// Dependencies between vertices (a channel on a lane each), with how many need each of them.
#[derive(Clone, Debug)]
pub struct Dependencies {
    needed: HashMap<(u32, u32), u32>,
    after: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
    /// By vertex: its place. Every dependency leads to a higher one.
    place: Vec<u32>,
}

impl Dependencies {
    pub fn new(vertices: usize) -> Dependencies {
        Dependencies { needed: HashMap::new(), after: vec![Vec::new(); vertices], before: vec![Vec::new(); vertices], place: (0..vertices as u32).collect() }
    }

    /// Needs a dependency, once more. False, and nothing is changed, if it would close a cycle.
    pub fn add(&mut self, from: u32, to: u32) -> bool {
        if let Some(count) = self.needed.get_mut(&(from, to)) {
            *count += 1;
            return true;
        }
        if from == to || (self.place[from as usize] > self.place[to as usize] && !self.reorder(from, to)) {
            return false;
        }
        self.needed.insert((from, to), 1);
        self.after[from as usize].push(to);
        self.before[to as usize].push(from);
        true
    }

    /// Needs it once less.
    pub fn remove(&mut self, from: u32, to: u32) {
        let count = self.needed.get_mut(&(from, to)).expect("what is taken back was needed");
        *count -= 1;
        if *count == 0 {
            self.needed.remove(&(from, to));
            self.after[from as usize].retain(|v| *v != to);
            self.before[to as usize].retain(|v| *v != from);
        }
    }

    /// Makes room for a dependency against the present order; false if a path leads back.
    fn reorder(&mut self, from: u32, to: u32) -> bool {
        let (low, high) = (self.place[to as usize], self.place[from as usize]);
        let Some(mut forward) = reached(to, &self.after, |v| self.place[v as usize] <= high, Some(from)) else { return false };
        let mut backward = reached(from, &self.before, |v| self.place[v as usize] >= low, None).expect("nothing is looked for");
        // Those that lead to `from` come first, in the places that both had.
        let by_place = |v: &u32| self.place[*v as usize];
        backward.sort_unstable_by_key(by_place);
        forward.sort_unstable_by_key(by_place);
        let all: Vec<u32> = backward.into_iter().chain(forward).collect();
        let mut places: Vec<u32> = all.iter().map(|v| self.place[*v as usize]).collect();
        places.sort_unstable();
        for (v, place) in all.into_iter().zip(places) {
            self.place[v as usize] = place;
        }
        true
    }
}

/// All that can be reached within bounds; nothing if that includes what must not be.
fn reached(start: u32, next: &[Vec<u32>], within: impl Fn(u32) -> bool, forbidden: Option<u32>) -> Option<Vec<u32>> {
    let mut found = vec![start];
    let mut seen = std::collections::HashSet::from([start]);
    let mut place = 0;
    while let Some(at) = found.get(place).copied() {
        place += 1;
        if Some(at) == forbidden {
            return None;
        }
        for v in &next[at as usize] {
            if within(*v) && seen.insert(*v) {
                found.push(*v);
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    /// Whether `to` leads to `from` along what is there.
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
    fn what_is_refused_would_close_a_cycle_and_nothing_else_is() {
        let mut random = Random::new(4);
        for _ in 0..40 {
            let mut dependencies = Dependencies::new(9);
            let mut edges = std::collections::HashSet::new();
            for _ in 0..120 {
                let (a, b) = (random.below(9) as u32, random.below(9) as u32);
                if edges.contains(&(a, b)) {
                    if random.below(3) == 0 {
                        dependencies.remove(a, b);
                        edges.remove(&(a, b));
                    }
                } else {
                    let closes = leads(&edges, b, a);
                    assert_eq!(dependencies.add(a, b), !closes, "{a} -> {b} with {edges:?}");
                    if !closes {
                        edges.insert((a, b));
                    }
                }
            }
        }
    }
}
