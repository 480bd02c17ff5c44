//! The simulated program, and what happens to its ranks.

use crate::noise::Noise;
use crate::span::Span;
use crate::time::VirtualTime;

/// When a rank may leave a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// When its own steps are done. The rank takes them itself.
    Strict,
    /// At once, unless the rank needs a result. An agent takes its steps.
    Bypass {
        /// By how many calls a rank may be ahead.
        window: u32,
    },
}

/// A loop: compute, then the collective.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// How often the loop runs.
    pub iterations: u32,
    /// The work of a rank before each call.
    pub compute: Span,
    /// How much later than time 0 a rank begins.
    pub skew: Span,
    /// When the ranks' processors do something else.
    pub noise: Noise,
    /// When ranks leave a call.
    pub leaving: Leaving,
    /// What happens to single ranks.
    pub faults: Vec<(u32, Fault)>,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// What happens to one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Everything that its processor does takes so many times as long.
    Slow(f64),
    /// It does nothing for a while.
    Stall {
        /// The beginning.
        at: VirtualTime,
        /// How long it lasts.
        length: VirtualTime,
    },
    /// It does nothing from this moment on.
    Death(VirtualTime),
}

/// One call without work before it and without disturbance.
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
