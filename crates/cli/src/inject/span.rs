//! Random spans of time, the same for the same seed.

use evenkeel_random::Random;
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
    pub const ALL: [Distribution; 3] =
        [Distribution::Exponential, Distribution::Uniform, Distribution::Fixed];

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
            Distribution::Exponential => random.exponential(),
            Distribution::Uniform => 2.0 * random.unit(),
            Distribution::Fixed => 1.0,
        };
        self.mean.mul_f64(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_spreads_are_those_asked_for() {
        for (distribution, spread) in [
            (Distribution::Exponential, 1.0),
            (Distribution::Uniform, 1.0 / 3.0_f64.sqrt()),
            (Distribution::Fixed, 0.0),
        ] {
            let span = Span { distribution, mean: Duration::from_millis(10) };
            let mut random = Random::new(5);
            let drawn: Vec<f64> = (0..20_000).map(|_| span.draw(&mut random).as_secs_f64() / 0.01).collect();
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let deviation =
                (drawn.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / drawn.len() as f64).sqrt();
            assert!((mean - 1.0).abs() < 0.03, "{distribution:?}: mean {mean}");
            assert!((deviation - spread).abs() < 0.03, "{distribution:?}: deviation {deviation}");
        }
    }
}
