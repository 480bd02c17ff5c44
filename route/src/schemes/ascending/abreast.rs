//! The lengths of many trees at a time: what the tree builder does, for as many roots as a few registers hold.

use crate::tables::Graph;

/// Roots that are taken at a time.
pub(super) const ABREAST: usize = 32;

const LEFT_OVER: f64 = 1.5;

/// For each root, where a switch's next channel stands among the channels at that switch: greater is later. 0 if it has none yet.
type Departures = [i16; ABREAST];

pub(super) struct Abreast {
    /// By channel: its place among all channels, in and out, at the switch where it begins, and at the one where it ends. A tree compares channels at
    /// one switch only, and there are so few of them that small numbers do.
    at_start: Vec<i16>,
    at_end: Vec<i16>,
    /// By switch.
    departures: Vec<Departures>,
    after: Vec<Departures>,
    /// Memory to sort in.
    channels: Vec<(u32, bool)>,
}

impl Abreast {
    pub fn new(graph: &Graph) -> Abreast {
        let none = vec![[0; ABREAST]; graph.switches];
        Abreast { at_start: vec![0; graph.channels], at_end: vec![0; graph.channels], departures: none.clone(), after: none, channels: Vec::new() }
    }

    pub fn set_order(&mut self, graph: &Graph, place: &[u32]) {
        for s in 0..graph.switches as u32 {
            self.channels.clear();
            self.channels.extend(graph.leaving(s).iter().map(|c| (*c, true)));
            self.channels.extend(graph.entering(s).iter().map(|c| (*c, false)));
            self.channels.sort_unstable_by_key(|(c, _)| place[*c as usize]);
            for (i, (c, leaves)) in self.channels.iter().enumerate() {
                let places = if *leaves { &mut self.at_start } else { &mut self.at_end };
                places[*c as usize] = i as i16 + 1;
            }
        }
    }

    /// For each root from `first` on: the sum of the distances of all switches, each counted as `counts` says. Switches that shortest paths leave over are given
    /// [`LEFT_OVER`] times the longest distance found; the tree builder knows better, but only one tree at a time.
    pub fn hops(&mut self, graph: &Graph, first: u32, counts: impl Fn(u32) -> f64) -> [f64; ABREAST] {
        let roots = ABREAST.min(graph.switches - first as usize);
        // Of the registers that hold no root nothing is asked: every switch has departed there.
        let mut idle = [0; ABREAST];
        idle[roots..].fill(i16::MAX);
        self.departures.fill(idle);
        (0..roots).for_each(|i| self.departures[first as usize + i][i] = i16::MAX);
        let mut hops = [0.0; ABREAST];
        let mut waiting: Vec<u32> = (0..graph.switches as u32).collect();
        let mut level = 0.0;
        loop {
            level += 1.0;
            let mut changed = false;
            for s in &waiting {
                let mut next: Departures = [0; ABREAST];
                for c in graph.leaving(*s) {
                    let to = &self.departures[graph.to[*c as usize] as usize];
                    later(&mut next, self.at_start[*c as usize], self.at_end[*c as usize], to);
                }
                let now = &self.departures[*s as usize];
                let counted = counts(*s);
                for i in 0..ABREAST {
                    let departs = now[i] == 0 && next[i] != 0;
                    hops[i] += if departs { counted * level } else { 0.0 };
                    changed |= departs;
                    next[i] = if now[i] == 0 { next[i] } else { now[i] };
                }
                self.after[*s as usize] = next;
            }
            waiting.iter().for_each(|s| self.departures[*s as usize] = self.after[*s as usize]);
            waiting.retain(|s| self.departures[*s as usize].contains(&0));
            if !changed || waiting.is_empty() {
                break;
            }
        }
        for s in waiting {
            let left_over = counts(s) * level * LEFT_OVER;
            (0..ABREAST).filter(|i| self.departures[s as usize][*i] == 0).for_each(|i| hops[i] += left_over);
        }
        hops
    }
}

/// Departs by a channel where that is later than what was found before, and early enough for the switch that it leads to.
#[inline]
fn later(next: &mut Departures, at_start: i16, at_end: i16, to: &Departures) {
    for (next, to) in next.iter_mut().zip(to) {
        let departure = if at_end < *to { at_start } else { 0 };
        *next = (*next).max(departure);
    }
}
