//! What the program does around the collective operation, and what happens to its ranks.

use crate::noise::Noise;
use crate::processors::Processors;
use crate::random::{Purpose, Span, sequence};
use crate::time::VirtualTime;

/// When a rank may leave a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// When its own steps are done; it does them itself.
    Strict,
    /// A rank that is owed nothing leaves at once, and an agent does its steps; it may be ahead by so many
    /// calls.
    Bypass { window: u32 },
}

/// A loop: compute, then the operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub iterations: u32,
    /// Work of a rank before each call.
    pub compute: Span,
    /// How much later than the others a rank begins, once.
    pub skew: Span,
    pub noise: Noise,
    pub leaving: Leaving,
    pub faults: Vec<(u32, Fault)>,
    pub seed: u64,
}

/// What happens to one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// All that its processor does takes so many times as long.
    Slow(f64),
    /// It does nothing for a while.
    Stall { at: VirtualTime, length: VirtualTime },
    /// From then on it does nothing.
    Death(VirtualTime),
}

/// One call, without anything before it and without disturbance.
impl Default for Workload {
    fn default() -> Workload {
        Workload {
            iterations: 1,
            compute: Span::NONE,
            skew: Span::NONE,
            noise: Noise::None,
            leaving: Leaving::Strict,
            faults: Vec::new(),
            seed: 1,
        }
    }
}

/// When the last of `ranks` would be through if nobody waited for anybody and calls took no time: the
/// least that the loop takes. Ranks that die do not count.
pub fn time_without_calls(workload: &Workload, ranks: u32) -> VirtualTime {
    let mut processors = Processors::new(workload, ranks);
    let through = |rank| {
        let begin = workload.skew.draw(&mut sequence(workload.seed, rank, Purpose::Skew));
        (0..workload.iterations).fold(begin, |from, _| {
            if from == VirtualTime::NEVER { from } else { processors.compute(rank, from) }
        })
    };
    (0..ranks).map(through).filter(|end| *end != VirtualTime::NEVER).max().unwrap_or(VirtualTime::ZERO)
}
