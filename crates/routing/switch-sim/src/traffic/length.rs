//! Lengths of messages.

use super::error::TrafficError;
use evenkeel_route::Random;
use std::fmt;
use std::str::FromStr;

/// Lengths of messages, in phits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// All messages have this length.
    Fixed(u32),
    /// Messages have one of two lengths.
    Bimodal {
        /// The length of short messages.
        short: u32,
        /// The length of long messages.
        long: u32,
        /// The share of messages that are short, 0 to 1.
        share_short: f64,
    },
}

impl Length {
    /// The mean length.
    pub fn mean(&self) -> f64 {
        match *self {
            Length::Fixed(n) => f64::from(n),
            Length::Bimodal { short, long, share_short } => {
                share_short * f64::from(short) + (1.0 - share_short) * f64::from(long)
            }
        }
    }

    /// The greatest length.
    pub fn longest(&self) -> u32 {
        match *self {
            Length::Fixed(n) => n,
            Length::Bimodal { short, long, .. } => short.max(long),
        }
    }

    /// The length of a random message.
    pub fn draw(&self, random: &mut Random) -> u32 {
        match *self {
            Length::Fixed(n) => n,
            Length::Bimodal { short, long, share_short } => {
                if random.unit() < share_short {
                    short
                } else {
                    long
                }
            }
        }
    }
}

impl FromStr for Length {
    type Err = TrafficError;

    /// Reads `32`, or `32:512:0.75`: 75% of the messages have 32 phits, the others 512.
    fn from_str(text: &str) -> Result<Length, TrafficError> {
        let wrong = || TrafficError::Length(text.to_string());
        let parts: Vec<&str> = text.split(':').collect();
        let phits = |t: &str| t.parse::<u32>().ok().filter(|n| (1..=1 << 24).contains(n)).ok_or_else(wrong);
        match parts[..] {
            [n] => Ok(Length::Fixed(phits(n)?)),
            [short, long, share] => {
                let share_short =
                    share.parse::<f64>().ok().filter(|s| (0.0..=1.0).contains(s)).ok_or_else(wrong)?;
                Ok(Length::Bimodal { short: phits(short)?, long: phits(long)?, share_short })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Length::Fixed(n) => write!(f, "{n}"),
            Length::Bimodal { short, long, share_short } => write!(f, "{short}:{long}:{share_short}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_length_is_read_back() {
        for text in ["32", "32:512:0.75"] {
            assert_eq!(text.parse::<Length>().unwrap().to_string(), text);
        }
        for wrong in ["", "0", "1:2", "1:2:3", "x"] {
            assert!(wrong.parse::<Length>().is_err(), "{wrong}");
        }
        assert_eq!("32:512:0.75".parse::<Length>().unwrap().mean(), 152.0);
    }
}
