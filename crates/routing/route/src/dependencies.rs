//! Which channel waits for which, and an order of the channels that shows that no cycle closes, kept up
//! to date (Pearce and Kelly 2006).

/// Dependencies between vertices (a channel on a lane each), with how many need each of them.
#[derive(Clone, Debug)]
pub struct Dependencies {
    /// By vertex: what may come after it. There are few: the channels that leave one switch.
    after: Vec<Vec<Edge>>,
    /// By vertex: what it is needed after.
    before: Vec<Vec<u32>>,
    /// By vertex: its place. Every dependency leads to a higher one.
    place: Vec<u32>,
    /// How often a dependency has gone for good. What closed a cycle still does as long as none has.
    age: u32,
    seen: Seen,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    /// How many need it; 0: it is not there.
    needed: u32,
    /// The age at which it was found to close a cycle.
    refused: u32,
}

impl Dependencies {
    pub fn new(vertices: usize) -> Dependencies {
        let (after, before, seen) =
            (vec![Vec::new(); vertices], vec![Vec::new(); vertices], Seen::new(vertices));
        Dependencies { after, before, place: (0..vertices as u32).collect(), age: 1, seen }
    }

    /// The vertices in an order in which every dependency leads to a later one.
    pub fn lowest_first(&self) -> Vec<u32> {
        let mut all: Vec<u32> = (0..self.place.len() as u32).collect();
        all.sort_unstable_by_key(|v| self.place[*v as usize]);
        all
    }

    /// Whether it is there.
    pub fn has(&self, from: u32, to: u32) -> bool {
        self.after[from as usize].iter().any(|e| e.to == to && e.needed > 0)
    }

    /// Needs all of these, each once more. False, and nothing is changed, if together they would close a
    /// cycle.
    pub fn add_all(&mut self, pairs: &[(u32, u32)]) -> bool {
        if pairs.iter().any(|(from, to)| self.known_to_close(*from, *to)) {
            return false;
        }
        let mut new = false;
        for (i, (from, to)) in pairs.iter().enumerate() {
            match self.add(*from, *to) {
                Some(first) => new |= first,
                None => {
                    for (from, to) in &pairs[..i] {
                        self.take_back(*from, *to);
                    }
                    // Does it by itself? Then it need not be tried again before something goes.
                    if !new || self.closes(*from, *to) {
                        let age = self.age;
                        self.edge(*from, *to).refused = age;
                    }
                    return false;
                }
            }
        }
        true
    }

    /// Needs it once less.
    pub fn remove(&mut self, from: u32, to: u32) {
        if self.take_back(from, to) {
            self.age += 1;
        }
    }

    fn known_to_close(&self, from: u32, to: u32) -> bool {
        self.after[from as usize].iter().any(|e| e.to == to && e.refused == self.age)
    }

    /// The dependency, whether it is there or not.
    fn edge(&mut self, from: u32, to: u32) -> &mut Edge {
        let edges = &mut self.after[from as usize];
        let place = edges.iter().position(|e| e.to == to).unwrap_or_else(|| {
            edges.push(Edge { to, needed: 0, refused: 0 });
            edges.len() - 1
        });
        &mut edges[place]
    }

    /// Needs a dependency once more, and says whether it is the first to need it; nothing if it would close
    /// a cycle.
    fn add(&mut self, from: u32, to: u32) -> Option<bool> {
        let edge = self.edge(from, to);
        if edge.needed > 0 {
            edge.needed += 1;
            return Some(false);
        }
        if from == to || (self.place[from as usize] > self.place[to as usize] && !self.reorder(from, to)) {
            return None;
        }
        self.edge(from, to).needed = 1;
        self.before[to as usize].push(from);
        Some(true)
    }

    /// Needs it once less; whether it is gone.
    fn take_back(&mut self, from: u32, to: u32) -> bool {
        let edge = self.edge(from, to);
        edge.needed = edge.needed.checked_sub(1).expect("what is taken back was needed");
        let gone = edge.needed == 0;
        if gone {
            let before = &mut self.before[to as usize];
            let place = before.iter().position(|v| *v == from).expect("both sides know of it");
            before.swap_remove(place);
        }
        gone
    }

    /// Whether a dependency that is not there would close a cycle.
    fn closes(&mut self, from: u32, to: u32) -> bool {
        from == to
            || (self.place[from as usize] > self.place[to as usize]
                && self.after_within(to, self.place[from as usize], from).is_none())
    }

    /// Makes room for a dependency against the present order; false if a path leads back.
    fn reorder(&mut self, from: u32, to: u32) -> bool {
        let (low, high) = (self.place[to as usize], self.place[from as usize]);
        let Some(mut forward) = self.after_within(to, high, from) else { return false };
        let mut backward = self.before_within(from, low);
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

    /// All that `start` leads to, up to a place; nothing if that includes what must not be.
    fn after_within(&mut self, start: u32, high: u32, forbidden: u32) -> Option<Vec<u32>> {
        self.seen.clear();
        let mut found = vec![start];
        let mut i = 0;
        while let Some(at) = found.get(i).copied() {
            i += 1;
            if at == forbidden {
                return None;
            }
            for edge in self.after[at as usize].iter().filter(|e| e.needed > 0) {
                if self.place[edge.to as usize] <= high && self.seen.insert(edge.to) {
                    found.push(edge.to);
                }
            }
        }
        Some(found)
    }

    /// All that leads to `start`, down to a place.
    fn before_within(&mut self, start: u32, low: u32) -> Vec<u32> {
        self.seen.clear();
        let mut found = vec![start];
        let mut i = 0;
        while let Some(at) = found.get(i).copied() {
            i += 1;
            for v in &self.before[at as usize] {
                if self.place[*v as usize] >= low && self.seen.insert(*v) {
                    found.push(*v);
                }
            }
        }
        found
    }
}

/// A set of numbers that is emptied at no cost.
#[derive(Clone, Debug)]
pub struct Seen {
    when: Vec<u32>,
    now: u32,
}

impl Seen {
    /// Of numbers below `end`.
    pub fn new(end: usize) -> Seen {
        Seen { when: vec![0; end], now: 0 }
    }

    pub fn clear(&mut self) {
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.when.fill(0);
            self.now = 1;
        }
    }

    /// Whether it is new.
    pub fn insert(&mut self, number: u32) -> bool {
        std::mem::replace(&mut self.when[number as usize], self.now) != self.now
    }
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
    fn several_are_added_together_or_not_at_all() {
        let mut random = Random::new(9);
        let (mut added, mut refused) = (0, 0);
        for _ in 0..60 {
            let mut dependencies = Dependencies::new(8);
            // One for each time that it is needed.
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for _ in 0..80 {
                if !edges.is_empty() && random.below(4) == 0 {
                    let (a, b) = edges.swap_remove(random.below(edges.len()));
                    dependencies.remove(a, b);
                    continue;
                }
                let pairs: Vec<(u32, u32)> = (0..1 + random.below(4))
                    .map(|_| (random.below(8) as u32, random.below(8) as u32))
                    .collect();
                let with: std::collections::HashSet<(u32, u32)> =
                    edges.iter().chain(&pairs).copied().collect();
                let closes = with.iter().any(|(a, b)| leads(&with, *b, *a));
                assert_eq!(dependencies.add_all(&pairs), !closes, "{pairs:?} with {edges:?}");
                if closes {
                    refused += 1;
                } else {
                    added += 1;
                    edges.extend(pairs);
                }
            }
        }
        assert!(added > 100 && refused > 100, "both were seen: {added} {refused}");
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
                    assert_eq!(dependencies.add_all(&[(a, b)]), !closes, "{a} -> {b} with {edges:?}");
                    if !closes {
                        edges.insert((a, b));
                    }
                }
            }
        }
    }
}
