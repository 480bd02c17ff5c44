//! The ranks' processors: when work is done that noise, slowness, stalls and death get in the way of.

use crate::noise::Detours;
use crate::random::{Purpose, Span, sequence};
use crate::time::VirtualTime;
use crate::workload::{Fault, Workload};
use evenkeel_random::Random;
use std::collections::HashMap;

pub struct Processors {
    detours: Detours,
    faults: HashMap<u32, Vec<Fault>>,
    compute: Span,
    /// Of each rank, if work is random.
    work: Vec<Random>,
}

impl Processors {
    pub fn new(workload: &Workload, ranks: u32) -> Processors {
        let mut faults: HashMap<u32, Vec<Fault>> = HashMap::new();
        for (rank, fault) in &workload.faults {
            faults.entry(*rank).or_default().push(*fault);
        }
        let random = !matches!(workload.compute.distribution, crate::random::Distribution::Fixed);
        Processors {
            detours: Detours::new(&workload.noise, ranks, workload.seed),
            faults,
            compute: workload.compute,
            work: if random {
                (0..ranks).map(|r| sequence(workload.seed, r, Purpose::Work)).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// When the rank has computed once more, beginning at `from`.
    pub fn compute(&mut self, rank: u32, from: VirtualTime) -> VirtualTime {
        let work = match self.work.get_mut(rank as usize) {
            Some(random) => self.compute.draw(random),
            None => self.compute.mean,
        };
        self.end_of(rank, from, work)
    }

    /// When work that was begun at `from` is done; never, if the rank dies before.
    #[inline]
    pub fn end_of(&mut self, rank: u32, from: VirtualTime, work: VirtualTime) -> VirtualTime {
        if self.faults.is_empty() {
            return self.detours.end_of(rank, from, work);
        }
        match self.faults.get(&rank) {
            None => self.detours.end_of(rank, from, work),
            Some(faults) => {
                let slow: f64 =
                    faults.iter().map(|f| if let Fault::Slow(times) = f { *times } else { 1.0 }).product();
                let mut end = self.detours.end_of(rank, from, work.scaled(slow));
                for fault in faults {
                    match fault {
                        Fault::Stall { at, length } if *at <= end && *at + *length > from => {
                            end += if *at >= from { *length } else { *at + *length - from };
                        }
                        _ => {}
                    }
                }
                let dead = faults.iter().any(|f| matches!(f, Fault::Death(at) if end > *at));
                if dead { VirtualTime::NEVER } else { end }
            }
        }
    }
}
