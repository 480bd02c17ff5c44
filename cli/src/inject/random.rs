//! Random spans of time, the same for the same seed.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Memoryless: stalls as unrelated events make them.
    Exponential,
    /// Between nothing and twice the mean.
    Uniform,
    Fixed,
}

impl Distribution {
    pub const ALL: [Distribution; 3] = [Distribution::Exponential, Distribution::Uniform, Distribution::Fixed];

    pub fn name(self) -> &'static str {
        match self {
            Distribution::Exponential => "exp",
            Distribution::Uniform => "uniform",
            Distribution::Fixed => "fixed",
        }
    }
}

/// A span of time with a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub distribution: Distribution,
    pub mean: Duration,
}

impl Span {
    pub fn draw(&self, random: &mut Random) -> Duration {
        let factor = match self.distribution {
            Distribution::Exponential => -(1.0 - random.unit()).ln(),
            Distribution::Uniform => 2.0 * random.unit(),
            Distribution::Fixed => 1.0,
        };
        self.mean.mul_f64(factor)
    }
}

/// splitmix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each pair.
    pub fn new(seed: u64, rank: usize) -> Random {
        let mut random = Random(seed);
        let mixed = random.next();
        Random(mixed ^ (rank as u64).wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to, but not with, 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_spreads_are_those_asked_for() {
        for (distribution, spread) in [(Distribution::Exponential, 1.0), (Distribution::Uniform, 1.0 / 3.0_f64.sqrt()), (Distribution::Fixed, 0.0)] {
            let span = Span { distribution, mean: Duration::from_millis(10) };
            let mut random = Random::new(5, 0);
            let drawn: Vec<f64> = (0..20_000).map(|_| span.draw(&mut random).as_secs_f64() / 0.01).collect();
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let deviation = (drawn.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / drawn.len() as f64).sqrt();
            assert!((mean - 1.0).abs() < 0.03, "{distribution:?}: mean {mean}");
            assert!((deviation - spread).abs() < 0.03, "{distribution:?}: deviation {deviation}");
        }
    }

    #[test]
    fn a_seed_and_a_rank_make_a_sequence() {
        let sequence = |seed, rank| { let mut r = Random::new(seed, rank); [r.next(), r.next()] };
        assert_eq!(sequence(1, 2), sequence(1, 2));
        assert_ne!(sequence(1, 2), sequence(1, 3));
        assert_ne!(sequence(1, 2), sequence(2, 2));
    }
}
