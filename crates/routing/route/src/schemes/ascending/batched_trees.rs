//! The lengths of many trees at a time: what the tree builder does, for as many roots as a few
//! registers hold.

use crate::tables::Graph;

/// Roots that are taken at a time.
pub(super) const ABREAST: usize = 32;

const LEFT_OVER: f64 = 1.5;

/// Places and distances, in as few bits as do: registers hold twice as many of half the width.
pub(super) trait Number: Copy + Ord + Default {
    /// Above all places.
    const LAST: Self;
    /// A number; [`Number::LAST`], if it is not below that.
    fn of(number: usize) -> Self;
    fn value(self) -> f64;
    /// The number, or 0.
    fn only_if(self, so: bool) -> Self;
}

impl Number for u8 {
    const LAST: u8 = u8::MAX;

    fn of(number: usize) -> u8 {
        number.min(usize::from(u8::MAX)) as u8
    }

    fn value(self) -> f64 {
        f64::from(self)
    }

    fn only_if(self, so: bool) -> u8 {
        self & u8::from(so).wrapping_neg()
    }
}

impl Number for u16 {
    const LAST: u16 = u16::MAX;

    fn of(number: usize) -> u16 {
        number.min(usize::from(u16::MAX)) as u16
    }

    fn value(self) -> f64 {
        f64::from(self)
    }

    fn only_if(self, so: bool) -> u16 {
        self & u16::from(so).wrapping_neg()
    }
}

/// In numbers that fit the network.
pub(super) enum Abreast {
    Narrow(Trees<u8>),
    Wide(Trees<u16>),
}

impl Abreast {
    pub fn new(graph: &Graph) -> Abreast {
        let most = (0..graph.switches as u32).map(|s| 2 * graph.leaving(s).len()).max().unwrap_or(0);
        if most < usize::from(u8::LAST) {
            Abreast::Narrow(Trees::new(graph))
        } else {
            Abreast::Wide(Trees::new(graph))
        }
    }

    pub fn set_order(&mut self, graph: &Graph, place: &[u32]) {
        match self {
            Abreast::Narrow(trees) => trees.set_order(graph, place),
            Abreast::Wide(trees) => trees.set_order(graph, place),
        }
    }

    /// For each root from `first` on: the sum of the distances of all switches, each counted as `counts`
    /// says. Switches that shortest paths leave over are given [`LEFT_OVER`] times the longest distance
    /// found; the tree builder knows better, but only one tree at a time.
    pub fn hops(&mut self, graph: &Graph, first: u32, counts: impl Fn(u32) -> f64) -> [f64; ABREAST] {
        match self {
            Abreast::Narrow(trees) => trees.hops(graph, first, counts),
            Abreast::Wide(trees) => trees.hops(graph, first, counts),
        }
    }
}

/// For each root, where a switch's next channel stands among the channels at that switch: greater is
/// later. 0 if it has none yet.
type Departures<T> = [T; ABREAST];

pub(super) struct Trees<T> {
    /// By channel: its place among all channels, in and out, at the switch where it begins, and at the one
    /// where it ends. A tree compares channels at one switch only, and there are so few of them that small
    /// numbers do.
    at_start: Vec<T>,
    at_end: Vec<T>,
    /// By switch.
    departures: Vec<Departures<T>>,
    /// By switch and root: hops, where it departs. Beyond what fits, distances are taken for less than they
    /// are.
    distances: Vec<[T; ABREAST]>,
    /// By switch: the level at which it departed for some root last.
    changed: Vec<u32>,
    /// What changes at a level, which is seen at the next.
    after: Vec<(u32, Departures<T>)>,
    /// Memory to sort in.
    channels: Vec<(u32, bool)>,
}

impl<T: Number> Trees<T> {
    fn new(graph: &Graph) -> Trees<T> {
        let none = vec![[T::default(); ABREAST]; graph.switches];
        let (places, changed) = (vec![T::default(); graph.channels], vec![0; graph.switches]);
        Trees {
            at_start: places.clone(),
            at_end: places,
            departures: none.clone(),
            distances: none,
            changed,
            after: Vec::new(),
            channels: Vec::new(),
        }
    }

    fn set_order(&mut self, graph: &Graph, place: &[u32]) {
        for s in 0..graph.switches as u32 {
            self.channels.clear();
            self.channels.extend(graph.leaving(s).iter().map(|c| (*c, true)));
            self.channels.extend(graph.entering(s).iter().map(|c| (*c, false)));
            self.channels.sort_unstable_by_key(|(c, _)| place[*c as usize]);
            for (i, (c, leaves)) in self.channels.iter().enumerate() {
                let places = if *leaves { &mut self.at_start } else { &mut self.at_end };
                places[*c as usize] = T::of(i + 1);
            }
        }
    }

    fn hops(&mut self, graph: &Graph, first: u32, counts: impl Fn(u32) -> f64) -> [f64; ABREAST] {
        let none = T::default();
        let roots = ABREAST.min(graph.switches - first as usize);
        // Of what holds no root nothing is asked: every switch has departed there.
        let mut idle = [none; ABREAST];
        idle[roots..].fill(T::LAST);
        self.departures.fill(idle);
        self.distances.fill([none; ABREAST]);
        self.changed.fill(0);
        for i in 0..roots {
            self.departures[first as usize + i][i] = T::LAST;
            self.changed[first as usize + i] = 1;
        }
        let mut waiting: Vec<u32> = (0..graph.switches as u32).collect();
        let mut level = 0;
        loop {
            level += 1;
            let far = T::of(level as usize);
            self.after.clear();
            for s in &waiting {
                // What stays out of reach of all changes stays as it is.
                let leaving = graph.leaving(*s);
                if leaving.iter().all(|c| self.changed[graph.to[*c as usize] as usize] != level) {
                    continue;
                }
                let mut next: Departures<T> = [none; ABREAST];
                for c in leaving {
                    let to = &self.departures[graph.to[*c as usize] as usize];
                    later(&mut next, self.at_start[*c as usize], self.at_end[*c as usize], to);
                }
                if depart(&mut next, &self.departures[*s as usize], &mut self.distances[*s as usize], far) {
                    self.after.push((*s, next));
                }
            }
            for (s, next) in &self.after {
                join(&mut self.departures[*s as usize], next);
                self.changed[*s as usize] = level + 1;
            }
            let changed = &self.changed;
            waiting.retain(|s| changed[*s as usize] != level + 1 || !all(&self.departures[*s as usize]));
            if self.after.is_empty() || waiting.is_empty() {
                break;
            }
        }
        let mut hops = [0.0; ABREAST];
        for s in 0..graph.switches as u32 {
            add(&mut hops, counts(s), &self.distances[s as usize]);
        }
        for s in waiting {
            let left_over = counts(s) * f64::from(level) * LEFT_OVER;
            (0..ABREAST)
                .filter(|i| self.departures[s as usize][*i] == none)
                .for_each(|i| hops[i] += left_over);
        }
        hops
    }
}

/// Departs by a channel where that is later than what was found before, and early enough for the switch
/// that it leads to.
// Not inlined, and in arithmetic without a choice: only so does the compiler do all of it in a few registers.
#[inline(never)]
fn later<T: Number>(next: &mut Departures<T>, at_start: T, at_end: T, to: &Departures<T>) {
    for (next, to) in next.iter_mut().zip(to) {
        *next = (*next).max(at_start.only_if(at_end < *to));
    }
}

/// Leaves in `next` what departs now and had not before, and sets its distance. Whether anything does.
#[inline(never)]
fn depart<T: Number>(
    next: &mut Departures<T>,
    now: &Departures<T>,
    distance: &mut [T; ABREAST],
    far: T,
) -> bool {
    for (next, now) in next.iter_mut().zip(now) {
        *next = next.only_if(*now == T::default());
    }
    for (distance, next) in distance.iter_mut().zip(&*next) {
        // What departed before has a distance already, and does not depart now.
        *distance = (*distance).max(far.only_if(*next != T::default()));
    }
    *next != [T::default(); ABREAST]
}

/// Departs by `next`, too. Where one is, the other is 0.
#[inline(never)]
fn join<T: Number>(departures: &mut Departures<T>, next: &Departures<T>) {
    for (now, next) in departures.iter_mut().zip(next) {
        *now = (*now).max(*next);
    }
}

/// Adds distances, each counted so many times.
#[inline(never)]
fn add<T: Number>(hops: &mut [f64; ABREAST], counted: f64, distances: &[T; ABREAST]) {
    for (hops, distance) in hops.iter_mut().zip(distances) {
        *hops += counted * distance.value();
    }
}

/// Whether it has departed for all roots.
#[inline(never)]
fn all<T: Number>(departures: &Departures<T>) -> bool {
    departures.iter().fold(T::LAST, |least, d| least.min(*d)) != T::default()
}
