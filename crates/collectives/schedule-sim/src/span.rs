//! Random spans of time.

use crate::time::{ParseTimeError, VirtualTime};
use evenkeel_random::Random;
use std::fmt;
use std::str::FromStr;

/// How a random span of time is distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Always the mean.
    Fixed,
    /// Evenly between zero and twice the mean.
    Uniform,
    /// Memoryless, as intervals between unrelated events are.
    Exponential,
    /// With a heavy tail: P(length > x) falls as x to the power of minus this index, which is above 1.
    Pareto(f64),
}

/// A random span of time with a mean. As text: `10us` is constant, `exp:10us`, `uniform:10us` and
/// `pareto:1.5:10us` vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// How it varies.
    pub distribution: Distribution,
    /// Its mean.
    pub mean: VirtualTime,
}

impl Span {
    /// No time.
    pub const NONE: Span = Span { distribution: Distribution::Fixed, mean: VirtualTime::ZERO };

    /// A constant span.
    pub fn fixed(mean: VirtualTime) -> Span {
        Span { distribution: Distribution::Fixed, mean }
    }

    /// Draws a value.
    pub fn draw(&self, random: &mut Random) -> VirtualTime {
        match self.distribution {
            Distribution::Fixed => self.mean,
            Distribution::Uniform => self.mean.scaled(2.0 * random.unit()),
            Distribution::Exponential => self.mean.scaled(random.exponential()),
            // The least value is mean·(index − 1)/index, which gives the right mean.
            Distribution::Pareto(index) => {
                self.mean.scaled((index - 1.0) / index * (1.0 - random.unit()).powf(-1.0 / index))
            }
        }
    }
}

/// Why a text is no span of time.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParseSpanError {
    /// A Pareto distribution needs an index and a mean.
    #[error("`{0}` lacks its index or its mean: pareto:1.5:10us")]
    NoIndex(String),
    /// The index of a Pareto distribution must be above 1.
    #[error("`{0}` is no index of a Pareto distribution: it must be above 1, or there is no mean")]
    WrongIndex(String),
    /// There is no distribution of this name.
    #[error("`{0}` is no distribution: there are fixed, uniform, exp and pareto:INDEX")]
    NoDistribution(String),
    /// The mean is no time.
    #[error(transparent)]
    Mean(#[from] ParseTimeError),
}

impl FromStr for Span {
    type Err = ParseSpanError;
    fn from_str(text: &str) -> Result<Span, ParseSpanError> {
        let (distribution, mean) = match text.split_once(':') {
            None => (Distribution::Fixed, text),
            Some(("fixed", mean)) => (Distribution::Fixed, mean),
            Some(("uniform", mean)) => (Distribution::Uniform, mean),
            Some(("exp", mean)) => (Distribution::Exponential, mean),
            Some(("pareto", rest)) => {
                let (index, mean) =
                    rest.split_once(':').ok_or_else(|| ParseSpanError::NoIndex(text.into()))?;
                match index.parse::<f64>() {
                    Ok(n) if n > 1.0 && n.is_finite() => (Distribution::Pareto(n), mean),
                    _ => return Err(ParseSpanError::WrongIndex(index.into())),
                }
            }
            Some((other, _)) => return Err(ParseSpanError::NoDistribution(other.into())),
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
    use crate::random::{RandomStream, stream};

    #[test]
    fn means_and_deviations_are_as_requested() {
        // The standard deviation of a Pareto distribution of index 5, divided by its mean, is 1/√(5·3).
        for (text, spread) in [
            ("10ms", 0.0),
            ("uniform:10ms", 1.0 / 3.0_f64.sqrt()),
            ("exp:10ms", 1.0),
            ("pareto:5:10ms", 1.0 / 15.0_f64.sqrt()),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.to_string(), text);
            let mut random = stream(5, 0, RandomStream::Noise);
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
}
