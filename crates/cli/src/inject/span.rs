//! Random spans of time, the same for the same seed.

use evenkeel_random::Random;
use std::time::Duration;

/// How random spans are distributed around their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Memoryless, as unrelated events cause stalls.
    Exponential,
    /// Between nothing and twice the mean.
    Uniform,
    /// Always the mean.
    Fixed,
}

impl Distribution {
    /// All of them.
    pub const ALL: [Distribution; 3] =
        [Distribution::Exponential, Distribution::Uniform, Distribution::Fixed];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Distribution::Exponential => "exp",
            Distribution::Uniform => "uniform",
            Distribution::Fixed => "fixed",
        }
    }
}

/// A random span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// How it is distributed.
    pub distribution: Distribution,
    /// Its mean.
    pub mean: Duration,
}

impl Span {
    /// Draws one.
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
