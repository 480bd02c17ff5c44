//! Random numbers, the same for the same seed.

/// The generator of networks (splitmix64): small, so that each host has a sequence of its own.
#[derive(Clone, Copy, Debug)]
pub struct Random(evenkeel_route::Random);

impl Random {
    /// A sequence of its own for each pair.
    pub fn new(seed: u64, stream: u64) -> Random {
        let from = evenkeel_route::Random::new;
        let mixed = from(seed).bits() ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        Random(from(from(mixed).bits()))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// From 0 up to, but not with, 1.
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// From 0 up to, but not with, `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.below(end as usize) as u64
    }

    /// Memoryless, with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.unit()).ln() * mean
    }
}
