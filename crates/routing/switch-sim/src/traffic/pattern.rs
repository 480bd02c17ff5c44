//! Patterns of destinations.

use super::error::TrafficError;
use std::fmt;
use std::str::FromStr;

/// To which hosts messages go.
///
/// The largest power of two of hosts takes part in a permutation (bit reversal, shuffle, transpose). Other
/// hosts send to any other host. A host whose destination would be itself does not send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// To any other host, all with the same probability.
    Uniform,
    /// To the host whose number has the bits in reverse order.
    BitReversal,
    /// To the host whose number has the bits rotated left by one.
    PerfectShuffle,
    /// To the host whose number has the upper and the lower half of the bits swapped. With an odd number of
    /// bits, the middle one belongs to the upper half.
    Transpose,
    /// To near hosts, and the rest to any other host.
    Local {
        /// The most links between the switches of near hosts.
        links: u32,
        /// The share of messages to near hosts, 0 to 1.
        share: f64,
    },
}

impl FromStr for Pattern {
    type Err = TrafficError;

    fn from_str(text: &str) -> Result<Pattern, TrafficError> {
        match text {
            "uniform" => Ok(Pattern::Uniform),
            "bit-reversal" => Ok(Pattern::BitReversal),
            "shuffle" => Ok(Pattern::PerfectShuffle),
            "transpose" => Ok(Pattern::Transpose),
            "local" => Ok(Pattern::Local { links: 5, share: 0.6 }),
            other => other
                .strip_prefix("local:")
                .and_then(|n| n.parse().ok())
                .map(|links| Pattern::Local { links, share: 0.6 })
                .ok_or_else(|| TrafficError::Pattern(other.to_string())),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Pattern::Uniform => write!(f, "uniform"),
            Pattern::BitReversal => write!(f, "bit-reversal"),
            Pattern::PerfectShuffle => write!(f, "shuffle"),
            Pattern::Transpose => write!(f, "transpose"),
            Pattern::Local { links, .. } => write!(f, "local:{links}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_pattern_is_read_back() {
        for text in ["uniform", "bit-reversal", "shuffle", "transpose", "local:5"] {
            assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
        assert!("near".parse::<Pattern>().is_err());
    }
}
