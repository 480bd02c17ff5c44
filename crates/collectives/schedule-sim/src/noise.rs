//! Noise: when the processor of a rank does something else. A *detour* is a span in which it does; work
//! that meets a detour takes that much longer.

use crate::span::Span;
use crate::time::VirtualTime;
use std::sync::Arc;

/// Where detours come from. Each rank has its own. Those of two ranks have nothing to do with each other,
/// unless they are aligned.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Noise {
    /// There are no detours.
    #[default]
    None,
    /// A detour of the same length in each period, as timer interrupts cause them.
    Periodic {
        /// How long a detour lasts.
        length: VirtualTime,
        /// The time between the beginnings of two detours.
        period: VirtualTime,
        /// Whether all ranks are away at the same moments. Otherwise each rank has its own phase.
        aligned: bool,
    },
    /// Detours of random length at random intervals.
    Random {
        /// How long a detour lasts.
        length: Span,
        /// The time between the end of a detour and the beginning of the next.
        interval: Span,
    },
    /// A measurement of a machine, repeated. Each rank begins at a random place in the trace of a random
    /// core.
    Measured(Arc<Vec<Trace>>),
}

/// The detours of one core while it was observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// How long the core was observed.
    pub watched: VirtualTime,
    /// The beginning and the length of each detour, in order of time and not overlapping.
    pub detours: Vec<(VirtualTime, VirtualTime)>,
}

impl Noise {
    /// The share of the time that is lost, on average.
    pub fn share(&self) -> f64 {
        match self {
            Noise::None => 0.0,
            Noise::Periodic { length, period, .. } => length.ns() / period.ns(),
            Noise::Random { length, interval } => length.mean.ns() / (length.mean.ns() + interval.mean.ns()),
            Noise::Measured(traces) => {
                let sum = |of: fn(&Trace) -> f64| traces.iter().map(of).sum::<f64>();
                sum(|t| t.detours.iter().map(|(_, length)| length.ns()).sum()) / sum(|t| t.watched.ns())
            }
        }
    }

    /// Whether this noise can be simulated.
    pub fn check(&self) -> Result<(), NoiseError> {
        match self {
            Noise::Periodic { length, period, .. } if length >= period => {
                Err(NoiseError::Periodic { length: *length, period: *period })
            }
            Noise::Random { interval, .. } if interval.mean == VirtualTime::ZERO => {
                Err(NoiseError::NoInterval)
            }
            Noise::Measured(traces) if traces.is_empty() => Err(NoiseError::NoTraces),
            Noise::Measured(traces) => traces.iter().try_for_each(Trace::check),
            _ => Ok(()),
        }
    }
}

impl Trace {
    fn check(&self) -> Result<(), NoiseError> {
        let are_apart = self.detours.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0);
        let are_inside = self.detours.last().is_none_or(|(start, length)| *start + *length <= self.watched);
        let leave_work = self.detours.iter().map(|(_, length)| length.ps()).sum::<u64>() < self.watched.ps();
        if are_apart && are_inside && leave_work { Ok(()) } else { Err(NoiseError::Trace) }
    }
}

/// Why noise cannot be simulated: work would never end, or there is nothing to replay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoiseError {
    /// Periodic detours take the whole period.
    #[error("detours of {length} every {period} leave no time for work")]
    Periodic {
        /// How long a detour lasts.
        length: VirtualTime,
        /// The time between the beginnings of two detours.
        period: VirtualTime,
    },
    /// Random detours follow each other without an interval.
    #[error("detours without an interval between them leave no time for work")]
    NoInterval,
    /// The measurement is empty.
    #[error("the measurement has no traces")]
    NoTraces,
    /// The detours of a trace make no sense.
    #[error("its detours overlap, are out of order, or leave no time for work")]
    Trace,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> VirtualTime {
        VirtualTime::from_ps(n * 1_000_000)
    }

    #[test]
    fn noise_that_never_ends_is_refused() {
        assert!(Noise::Periodic { length: us(5), period: us(5), aligned: false }.check().is_err());
        assert!(Noise::Random { length: Span::fixed(us(1)), interval: Span::NONE }.check().is_err());
        assert!(Noise::Measured(Arc::default()).check().is_err());
    }
}
