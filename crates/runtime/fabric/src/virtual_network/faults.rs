//! What goes wrong in a virtual network, and the random numbers that decide when.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// What happens to everything that one node sends to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// Every transmission takes a time between `shortest` and `longest`, uniformly distributed. So what was
    /// sent later may arrive earlier.
    pub shortest: Duration,
    /// See `shortest`.
    pub longest: Duration,
    /// Probability that a transmission does not arrive.
    pub loss: f64,
    /// Probability that a message arrives twice.
    pub duplicate: f64,
}

impl Faults {
    /// A good network: every transmission takes 10 µs and arrives once, in order.
    pub fn none() -> Faults {
        let latency = Duration::from_micros(10);
        Faults { shortest: latency, longest: latency, loss: 0.0, duplicate: 0.0 }
    }

    /// A bad network: latencies lie between 10 µs and 1 ms, so that many messages are overtaken; one in
    /// ten is lost, one in ten is duplicated.
    pub fn bad() -> Faults {
        Faults { longest: Duration::from_millis(1), loss: 0.1, duplicate: 0.1, ..Faults::none() }
    }
}

/// Random numbers of a named algorithm (xoshiro256++, Blackman and Vigna 2019): the same on every machine and
/// in every version.
pub(super) struct RandomSource(Xoshiro256PlusPlus);

impl RandomSource {
    pub fn new(seed: u64) -> RandomSource {
        RandomSource(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// True with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        // Drawn even if the probability is 0 or 1: changing it must not change what else is drawn.
        ((self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64) < probability
    }

    /// A duration from 0 to `longest`, uniformly distributed.
    pub fn up_to(&mut self, longest: Duration) -> Duration {
        let nanoseconds = longest.as_nanos() as u64;
        Duration::from_nanos(((u128::from(self.0.next_u64()) * (u128::from(nanoseconds) + 1)) >> 64) as u64)
    }
}
