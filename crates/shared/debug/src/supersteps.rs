//! Supersteps: what lies between two moments that all ranks of the world pass together.
//!
//! Such a moment, a cut, is a blocking collective of all ranks that synchronizes (`MPI_Barrier`,
//! `MPI_Allreduce`, …, not `MPI_Bcast`), and `MPI_Finalize`. It lies where the last rank enters the
//! collective.

use crate::collectives::Instance;
use crate::functions::Needs;
use crate::run::{Place, Run};
use crate::waits::Waits;

/// A superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superstep {
    /// From when, ns: the cut before, or the start of the run.
    pub from: i64,
    /// Until when, ns.
    pub to: i64,
    /// The call of the rank that came last to the collective that ends it.
    pub last: Place,
    /// The rank that was outside MPI for longest.
    pub busiest: u32,
    /// How long that was, ns.
    pub longest_work: i64,
    /// How long ranks were outside MPI on average, ns.
    pub mean_work: i64,
    /// How long ranks waited in the collective that ends it, together, ns.
    pub waited: i64,
}

impl Superstep {
    /// How long it took, ns.
    pub fn length(&self) -> i64 {
        self.to - self.from
    }

    /// The share of the busiest rank's work that an average rank did not have: 0 if all worked as long.
    pub fn imbalance(&self) -> f64 {
        if self.longest_work <= 0 {
            return 0.0;
        }
        (self.longest_work - self.mean_work) as f64 / self.longest_work as f64
    }
}

/// All supersteps of a run, in the order of time.
pub fn supersteps(run: &Run, waits: &Waits) -> Vec<Superstep> {
    let ranks = run.processes.len();
    let mut cuts: Vec<(i64, Instance)> = Vec::new();
    for comm in 0..run.collectives.by_comm.len() as u32 {
        let is_world = run
            .communicators
            .get(comm as usize)
            .is_some_and(|it| it.remote.is_empty() && it.members.len() == ranks);
        if is_world && run.collectives.by_comm[comm as usize].len() == ranks {
            cuts.extend((0..run.collectives.count(comm)).filter_map(|nth| cut(run, Instance { comm, nth })));
        }
    }
    cuts.sort_unstable();
    let mut work = Work::new(run);
    let mut from = 0;
    let mut found = Vec::with_capacity(cuts.len());
    for (to, instance) in cuts {
        found.push(work.superstep(waits, instance, from, to.max(from)));
        from = to.max(from);
    }
    found
}

/// The moment of a collective, if all ranks of the world pass it together.
fn cut(run: &Run, instance: Instance) -> Option<(i64, Instance)> {
    let mut last = i64::MIN;
    let mut ranks = 0;
    for (_, place) in run.collectives.calls(instance) {
        let function = run.function(place);
        if function.needs != Needs::All || function.only_starts {
            return None;
        }
        last = last.max(run.begin(place));
        ranks += 1;
    }
    (ranks == run.processes.len()).then_some((last, instance))
}

/// How far the calls of the ranks have been counted.
struct Work<'a> {
    run: &'a Run,
    /// By lane: the call after the cut before.
    next: Vec<u32>,
    /// By lane: when it left the cut before.
    left: Vec<i64>,
}

impl Work<'_> {
    fn new(run: &Run) -> Work<'_> {
        let left = run.lanes.iter().map(|lane| lane.starts).collect();
        Work { run, next: vec![0; run.lanes.len()], left }
    }

    fn superstep(&mut self, waits: &Waits, instance: Instance, from: i64, to: i64) -> Superstep {
        let (mut longest, mut busiest, mut total, mut waited, mut ranks) = (-1, 0, 0, 0, 0);
        let mut last = (i64::MIN, Place { lane: 0, call: 0 });
        for (rank, place) in self.run.collectives.calls(instance) {
            let work = self.work(place);
            if work > longest {
                (longest, busiest) = (work, rank);
            }
            total += work;
            waited += waits.length(self.run, place);
            last = last.max((self.run.begin(place), place));
            ranks += 1;
        }
        let mean_work = total / ranks.max(1);
        let longest_work = longest.max(0);
        Superstep { from, to, last: last.1, busiest, longest_work, mean_work, waited }
    }

    /// How long a rank was outside MPI since the cut before.
    fn work(&mut self, cut: Place) -> i64 {
        let number = cut.lane as usize;
        let lane = &self.run.lanes[number];
        // Collectives of several communicators may be cuts in another order than they were called.
        let calls = (self.next[number] as usize).min(cut.call as usize)..cut.call as usize;
        let inside: i64 = calls.map(|call| lane.end[call] - lane.begin[call]).sum();
        let work = lane.begin[cut.call as usize] - self.left[number] - inside;
        self.next[number] = cut.call + 1;
        self.left[number] = lane.end[cut.call as usize];
        work.max(0)
    }
}
