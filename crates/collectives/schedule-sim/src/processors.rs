//! The ranks' processors: when work is done, given noise, slowness, stalls and death.

use crate::detours::Detours;
use crate::random::{RandomStream, stream};
use crate::span::{Distribution, Span};
use crate::time::VirtualTime;
use crate::workload::{Fault, Workload};
use evenkeel_random::Random;
use std::collections::HashMap;

/// The processors of all ranks.
pub struct Processors {
    detours: Detours,
    faults: HashMap<u32, Vec<Fault>>,
    compute: Span,
    /// The random numbers of each rank. Empty if the work is not random.
    work: Vec<Random>,
}

impl Processors {
    /// The processors at time 0.
    pub fn new(workload: &Workload, ranks: u32) -> Processors {
        let mut faults: HashMap<u32, Vec<Fault>> = HashMap::new();
        for (rank, fault) in &workload.faults {
            faults.entry(*rank).or_default().push(*fault);
        }
        let random = !matches!(workload.compute.distribution, Distribution::Fixed);
        Processors {
            detours: Detours::new(&workload.noise, ranks, workload.seed),
            faults,
            compute: workload.compute,
            work: if random {
                (0..ranks).map(|r| stream(workload.seed, r, RandomStream::Work)).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// When a rank that begins to compute at `from` is done with the work before its next call.
    pub fn compute(&mut self, rank: u32, from: VirtualTime) -> VirtualTime {
        let work = match self.work.get_mut(rank as usize) {
            Some(random) => self.compute.draw(random),
            None => self.compute.mean,
        };
        self.end_of(rank, from, work)
    }

    /// When work that begins at `from` is done. Never, if the rank dies before.
    #[inline]
    pub fn end_of(&mut self, rank: u32, from: VirtualTime, work: VirtualTime) -> VirtualTime {
        if self.faults.is_empty() {
            return self.detours.end_of(rank, from, work);
        }
        match self.faults.get(&rank) {
            None => self.detours.end_of(rank, from, work),
            Some(faults) => {
                let slowness = |fault: &Fault| if let Fault::Slow(times) = fault { *times } else { 1.0 };
                let work = work.scaled(faults.iter().map(slowness).product());
                end_with_faults(faults, from, self.detours.end_of(rank, from, work))
            }
        }
    }
}

/// When work from `from` to `end` is done if stalls and death interrupt it.
fn end_with_faults(faults: &[Fault], from: VirtualTime, mut end: VirtualTime) -> VirtualTime {
    for fault in faults {
        match fault {
            Fault::Stall { at, length } if *at <= end && *at + *length > from => {
                end += if *at >= from { *length } else { *at + *length - from };
            }
            _ => {}
        }
    }
    let is_dead = faults.iter().any(|f| matches!(f, Fault::Death(at) if end > *at));
    if is_dead { VirtualTime::NEVER } else { end }
}

/// When the last of `ranks` ranks would be done if no rank waited for another and calls took no time: the
/// least time that the loop takes. Ranks that die do not count.
pub fn time_without_calls(workload: &Workload, ranks: u32) -> VirtualTime {
    let mut processors = Processors::new(workload, ranks);
    let done = |rank| {
        let begin = workload.skew.draw(&mut stream(workload.seed, rank, RandomStream::Skew));
        let compute =
            |from, _| if from == VirtualTime::NEVER { from } else { processors.compute(rank, from) };
        (0..workload.iterations).fold(begin, compute)
    };
    (0..ranks).map(done).filter(|end| *end != VirtualTime::NEVER).max().unwrap_or(VirtualTime::ZERO)
}
