//! What the simulator draws random numbers for, and random spans of time.

use crate::time::VirtualTime;
use evenkeel_random::Random;
use std::fmt;
use std::str::FromStr;

/// What random numbers are for. Another use of randomness must not change those that were there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Noise = 1,
    Work = 2,
    Skew = 3,
    Order = 4,
}

/// A sequence of its own for each triple.
pub fn sequence(seed: u64, rank: u32, purpose: Purpose) -> Random {
    Random::stream(seed ^ (purpose as u64) << 56, rank.into())
}

/// How spans of time are distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    Fixed,
    /// Between nothing and twice the mean.
    Uniform,
    /// Memoryless: as unrelated events make them.
    Exponential,
    /// A heavy tail: P(length > x) falls as x to the power of minus this index, which is above 1.
    Pareto(f64),
}

/// A random span of time with a mean: `10us` is always that, `exp:10us`, `uniform:10us` and
/// `pareto:1.5:10us` vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub distribution: Distribution,
    pub mean: VirtualTime,
}

impl Span {
    pub const NONE: Span = Span { distribution: Distribution::Fixed, mean: VirtualTime::ZERO };

    pub fn fixed(mean: VirtualTime) -> Span {
        Span { distribution: Distribution::Fixed, mean }
    }

    pub fn draw(&self, random: &mut Random) -> VirtualTime {
        match self.distribution {
            Distribution::Fixed => self.mean,
            Distribution::Uniform => self.mean.scaled(2.0 * random.unit()),
            Distribution::Exponential => self.mean.scaled(random.exponential()),
            // The least value is mean·(index − 1)/index, so that the mean comes out.
            Distribution::Pareto(index) => {
                self.mean.scaled((index - 1.0) / index * (1.0 - random.unit()).powf(-1.0 / index))
            }
        }
    }
}

impl FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Span, String> {
        let (distribution, mean) = match text.split_once(':') {
            None => (Distribution::Fixed, text),
            Some(("fixed", mean)) => (Distribution::Fixed, mean),
            Some(("uniform", mean)) => (Distribution::Uniform, mean),
            Some(("exp", mean)) => (Distribution::Exponential, mean),
            Some(("pareto", rest)) => {
                let (index, mean) = rest
                    .split_once(':')
                    .ok_or_else(|| format!("`{text}` lacks its index or its mean: pareto:1.5:10us"))?;
                match index.parse::<f64>() {
                    Ok(n) if n > 1.0 && n.is_finite() => (Distribution::Pareto(n), mean),
                    _ => {
                        return Err(format!(
                            "`{index}` is no index of a Pareto distribution: it must be above 1, or there is no mean"
                        ));
                    }
                }
            }
            Some((other, _)) => {
                return Err(format!(
                    "`{other}` is no distribution: there are fixed, uniform, exp and pareto:INDEX"
                ));
            }
        };
        Ok(Span { distribution, mean: mean.parse()? })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.distribution {
            Distribution::Fixed => write!(f, "{}", self.mean),
            Distribution::Uniform => write!(f, "uniform:{}", self.mean),
            Distribution::Exponential => write!(f, "exp:{}", self.mean),
            Distribution::Pareto(index) => write!(f, "pareto:{index}:{}", self.mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_spreads_are_those_asked_for() {
        // The deviation of a Pareto distribution of index 5, over its mean: 1/√(5·3).
        for (text, spread) in [
            ("10ms", 0.0),
            ("uniform:10ms", 1.0 / 3.0_f64.sqrt()),
            ("exp:10ms", 1.0),
            ("pareto:5:10ms", 1.0 / 15.0_f64.sqrt()),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.to_string(), text);
            let mut random = sequence(5, 0, Purpose::Noise);
            let drawn: Vec<f64> = (0..20_000).map(|_| span.draw(&mut random).ns() / 1e7).collect();
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let deviation =
                (drawn.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / drawn.len() as f64).sqrt();
            assert!((mean - 1.0).abs() < 0.03, "{text}: mean {mean}");
            assert!((deviation - spread).abs() < 0.03, "{text}: deviation {deviation}");
        }
        for wrong in ["", "exp:", "exp", "gauss:1ms", "pareto:10ms", "pareto:1:10ms", "pareto:x:10ms"] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sequences_depend_on_seed_rank_and_purpose() {
        let of = |seed, rank, purpose| {
            let mut r = sequence(seed, rank, purpose);
            [r.bits(), r.bits()]
        };
        let one = of(1, 2, Purpose::Noise);
        assert_eq!(one, of(1, 2, Purpose::Noise));
        for other in [of(2, 2, Purpose::Noise), of(1, 3, Purpose::Noise), of(1, 2, Purpose::Work)] {
            assert_ne!(one, other);
        }
        // No rank's sequence is another's a step later.
        assert_ne!(one[1], of(1, 3, Purpose::Noise)[0]);
    }
}
