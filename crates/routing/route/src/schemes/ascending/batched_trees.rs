//! The hops of many trees at a time. It computes the distances that the tree builder would, for as many
//! roots as a few vector registers hold.

use crate::tables::Graph;

/// Number of roots in a batch.
pub(super) const BATCH: usize = 32;

/// A switch that shortest paths leave out counts with this multiple of the longest distance found.
const LEFT_OUT: f64 = 1.5;

/// Positions and distances in as few bits as possible, because a register holds twice as many numbers of
/// half the width.
pub(super) trait Number: Copy + Ord + Default {
    /// Greater than all positions.
    const LAST: Self;
    /// A number, or [`Number::LAST`] if it is not smaller than that.
    fn of(number: usize) -> Self;
    /// The number as a floating-point number.
    fn value(self) -> f64;
    /// The number if the condition holds, otherwise 0.
    fn only_if(self, condition: bool) -> Self;
}

impl Number for u8 {
    const LAST: u8 = u8::MAX;

    fn of(number: usize) -> u8 {
        number.min(usize::from(u8::MAX)) as u8
    }

    fn value(self) -> f64 {
        f64::from(self)
    }

    fn only_if(self, condition: bool) -> u8 {
        self & u8::from(condition).wrapping_neg()
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

    fn only_if(self, condition: bool) -> u16 {
        self & u16::from(condition).wrapping_neg()
    }
}

/// Batches of trees, in numbers as narrow as the network allows.
pub(super) enum BatchedTrees {
    Narrow(Batch<u8>),
    Wide(Batch<u16>),
}

impl BatchedTrees {
    /// Memory for the trees of a graph.
    pub fn new(graph: &Graph) -> BatchedTrees {
        let most = (0..graph.switches as u32).map(|s| 2 * graph.leaving(s).len()).max().unwrap_or(0);
        if most < usize::from(u8::LAST) {
            BatchedTrees::Narrow(Batch::new(graph))
        } else {
            BatchedTrees::Wide(Batch::new(graph))
        }
    }

    /// Sets the order of the channels, by the position of each.
    pub fn set_order(&mut self, graph: &Graph, position: &[u32]) {
        match self {
            BatchedTrees::Narrow(batch) => batch.set_order(graph, position),
            BatchedTrees::Wide(batch) => batch.set_order(graph, position),
        }
    }

    /// For each root from `first` on: the sum of the distances of all switches, each multiplied by
    /// `counts`.
    ///
    /// Switches that shortest paths leave out get [`LEFT_OUT`] times the longest distance found. The tree
    /// builder finds their paths, but it builds one tree at a time.
    pub fn hops(&mut self, graph: &Graph, first: u32, counts: impl Fn(u32) -> f64) -> [f64; BATCH] {
        match self {
            BatchedTrees::Narrow(batch) => batch.hops(graph, first, counts),
            BatchedTrees::Wide(batch) => batch.hops(graph, first, counts),
        }
    }
}

/// For each root: the position of a switch's next channel among the channels of that switch, and 0 if the
/// switch has no next channel yet. A greater position is a later departure.
type Departures<T> = [T; BATCH];

/// A batch of trees.
pub(super) struct Batch<T> {
    /// By channel: its position among all channels of the switch that it leaves, and of the switch that it
    /// enters, counted from 1. A tree compares only channels of one switch. These are so few that small
    /// numbers suffice.
    at_start: Vec<T>,
    at_end: Vec<T>,
    /// By switch.
    departures: Vec<Departures<T>>,
    /// By switch and root: hops, once the switch has departed. Distances that do not fit are too small.
    distances: Vec<[T; BATCH]>,
    /// By switch: the last level at which it departed for some root.
    changed: Vec<u32>,
    /// Departures of the present level, which count from the next level on.
    new_departures: Vec<(u32, Departures<T>)>,
    /// Memory for sorting.
    channels: Vec<(u32, bool)>,
}

impl<T: Number> Batch<T> {
    fn new(graph: &Graph) -> Batch<T> {
        let none = vec![[T::default(); BATCH]; graph.switches];
        let (positions, changed) = (vec![T::default(); graph.channels], vec![0; graph.switches]);
        Batch {
            at_start: positions.clone(),
            at_end: positions,
            departures: none.clone(),
            distances: none,
            changed,
            new_departures: Vec::new(),
            channels: Vec::new(),
        }
    }

    fn set_order(&mut self, graph: &Graph, position: &[u32]) {
        for s in 0..graph.switches as u32 {
            self.channels.clear();
            self.channels.extend(graph.leaving(s).iter().map(|c| (*c, true)));
            self.channels.extend(graph.entering(s).iter().map(|c| (*c, false)));
            self.channels.sort_unstable_by_key(|(c, _)| position[*c as usize]);
            for (i, (c, leaves)) in self.channels.iter().enumerate() {
                let positions = if *leaves { &mut self.at_start } else { &mut self.at_end };
                positions[*c as usize] = T::of(i + 1);
            }
        }
    }

    fn hops(&mut self, graph: &Graph, first: u32, counts: impl Fn(u32) -> f64) -> [f64; BATCH] {
        self.start_at_roots(graph, first);
        let mut waiting: Vec<u32> = (0..graph.switches as u32).collect();
        let mut level = 0;
        loop {
            level += 1;
            self.depart_at_level(graph, level, &waiting);
            for (s, next) in &self.new_departures {
                join(&mut self.departures[*s as usize], next);
                self.changed[*s as usize] = level + 1;
            }
            let (changed, departures) = (&self.changed, &self.departures);
            waiting.retain(|s| changed[*s as usize] != level + 1 || !all_departed(&departures[*s as usize]));
            if self.new_departures.is_empty() || waiting.is_empty() {
                break;
            }
        }
        let mut hops = [0.0; BATCH];
        for s in 0..graph.switches as u32 {
            add(&mut hops, counts(s), &self.distances[s as usize]);
        }
        for s in waiting {
            let left_out = counts(s) * f64::from(level) * LEFT_OUT;
            (0..BATCH)
                .filter(|i| self.departures[s as usize][*i] == T::default())
                .for_each(|i| hops[i] += left_out);
        }
        hops
    }

    /// Begins the trees of the roots from `first` on.
    fn start_at_roots(&mut self, graph: &Graph, first: u32) {
        let none = T::default();
        let roots = BATCH.min(graph.switches - first as usize);
        // The last batch may have fewer roots. Where there is no root, all switches count as departed.
        let mut unused = [none; BATCH];
        unused[roots..].fill(T::LAST);
        self.departures.fill(unused);
        self.distances.fill([none; BATCH]);
        self.changed.fill(0);
        for i in 0..roots {
            self.departures[first as usize + i][i] = T::LAST;
            self.changed[first as usize + i] = 1;
        }
    }

    /// Finds the switches that depart at a level, and sets their distances.
    fn depart_at_level(&mut self, graph: &Graph, level: u32, waiting: &[u32]) {
        let distance = T::of(level as usize);
        self.new_departures.clear();
        for s in waiting {
            // A switch can depart only if a neighbour departed at the level before.
            let leaving = graph.leaving(*s);
            if leaving.iter().all(|c| self.changed[graph.to[*c as usize] as usize] != level) {
                continue;
            }
            let mut next: Departures<T> = [T::default(); BATCH];
            for c in leaving {
                let to = &self.departures[graph.to[*c as usize] as usize];
                depart_later(&mut next, self.at_start[*c as usize], self.at_end[*c as usize], to);
            }
            let s_index = *s as usize;
            if keep_new(&mut next, &self.departures[s_index], &mut self.distances[s_index], distance) {
                self.new_departures.push((*s, next));
            }
        }
    }
}

// The functions below are not inlined, and compute without branches. Only then does the compiler keep a
// batch in a few vector registers.

/// Departs by a channel if that is later than the channels tried before, and early enough for the switch
/// that the channel enters.
#[inline(never)]
fn depart_later<T: Number>(next: &mut Departures<T>, at_start: T, at_end: T, to: &Departures<T>) {
    for (next, to) in next.iter_mut().zip(to) {
        *next = (*next).max(at_start.only_if(at_end < *to));
    }
}

/// Keeps in `next` only the departures for roots for which the switch had none, and sets their distances.
/// Returns whether there are any.
#[inline(never)]
fn keep_new<T: Number>(
    next: &mut Departures<T>,
    departed: &Departures<T>,
    distances: &mut [T; BATCH],
    distance: T,
) -> bool {
    for (next, departed) in next.iter_mut().zip(departed) {
        *next = next.only_if(*departed == T::default());
    }
    for (known, next) in distances.iter_mut().zip(&*next) {
        // A switch that departed earlier has a distance already and does not depart now.
        *known = (*known).max(distance.only_if(*next != T::default()));
    }
    *next != [T::default(); BATCH]
}

/// Adds new departures. For each root, at most one of the two is not 0.
#[inline(never)]
fn join<T: Number>(departures: &mut Departures<T>, next: &Departures<T>) {
    for (departed, next) in departures.iter_mut().zip(next) {
        *departed = (*departed).max(*next);
    }
}

/// Adds distances, multiplied by a number.
#[inline(never)]
fn add<T: Number>(hops: &mut [f64; BATCH], count: f64, distances: &[T; BATCH]) {
    for (hops, distance) in hops.iter_mut().zip(distances) {
        *hops += count * distance.value();
    }
}

/// Whether the switch has departed for all roots.
#[inline(never)]
fn all_departed<T: Number>(departures: &Departures<T>) -> bool {
    departures.iter().fold(T::LAST, |least, d| least.min(*d)) != T::default()
}
