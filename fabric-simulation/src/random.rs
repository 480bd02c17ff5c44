//! Random numbers, the same for the same seed.

/// splitmix64 (Steele, Lea, Flood 2014): small, so that each host has a sequence of its own.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each pair.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut random = Random(seed);
        let mixed = random.bits();
        let mut random = Random(mixed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        Random(random.bits())
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to, but not with, 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 up to, but not with, `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// Memoryless, with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.unit()).ln() * mean
    }
}
