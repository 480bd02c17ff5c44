//! What goes wrong in a virtual network, and the dice.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// What happens to everything that is sent from one node to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// Every flight takes a time between these two, each as likely as the other: what was sent later may
    /// arrive earlier.
    pub shortest: Duration,
    pub longest: Duration,
    /// Probability of not arriving.
    pub loss: f64,
    /// Probability of a message to arrive twice.
    pub duplicate: f64,
}

impl Faults {
    /// A good network: everything takes 10 µs and arrives once, in order.
    pub fn none() -> Faults {
        let latency = Duration::from_micros(10);
        Faults { shortest: latency, longest: latency, loss: 0.0, duplicate: 0.0 }
    }

    /// A bad one: latencies between 10 µs and 1 ms, so that much is overtaken; one in ten is lost, one in
    /// ten doubled.
    pub fn bad() -> Faults {
        Faults { longest: Duration::from_millis(1), loss: 0.1, duplicate: 0.1, ..Faults::none() }
    }
}

/// Random numbers of a named algorithm (xoshiro256++, Blackman and Vigna 2019): the same on every
/// machine and in every version.
pub(crate) struct Dice(Xoshiro256PlusPlus);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub fn falls(&mut self, probability: f64) -> bool {
        // Drawn even if it cannot matter: another probability must not change what else is drawn.
        ((self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64) < probability
    }

    pub fn up_to(&mut self, longest: Duration) -> Duration {
        let nanoseconds = longest.as_nanos() as u64;
        Duration::from_nanos(((u128::from(self.0.next_u64()) * (u128::from(nanoseconds) + 1)) >> 64) as u64)
    }
}
